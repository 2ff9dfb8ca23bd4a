"""What a viewer will ask for next: the serving model's word, or the retention curve's where that is late or fails."""

from __future__ import annotations

import time
from dataclasses import dataclass
from typing import Any
from uuid import UUID

import numpy as np

from apps.access.core.callers import Caller
from apps.segments.core import predictor
from apps.segments.core.catalogue import SEGMENT_S, Kind
from apps.segments.core.control import Measure
from apps.segments.models import Edge, Event, Predictor, Video
from apps.segments.services import viewing

REMEMBER_S = 5.0
MOST_STEPS = 120
KINDS = {"education": Kind.EDUCATION, "film": Kind.FILM, "sport": Kind.SPORT, "short": Kind.SHORT, "live": Kind.LIVE}
_known: dict[UUID, tuple[float, Models]] = {}


@dataclass(frozen=True, slots=True)
class Models:
    """The model that serves a workspace, and the retention curve that stands by; `curves`: those of single videos.

    A video's curve gives the chance of going on from each of its segments, by the video's key.
    """

    model: predictor.Predictor
    standby: predictor.Retention
    name: str
    curves: dict[str, list[float]]


@dataclass(frozen=True, slots=True)
class Prediction:
    """Which model spoke, how far it looked, and the probability of each of the next segments (index, share)."""

    model: str
    window_s: float
    segments: list[tuple[int, float]]


def predict(caller: Caller, viewer: str, video: Video, position_s: float, window_s: float | None = None) -> Prediction:
    """Predict the segments that a viewer plays within the window of the video's kind."""
    window = predictor.window_s(KINDS[video.kind], window_s)
    length = max(1, int(np.ceil((video.duration_s or SEGMENT_S) / SEGMENT_S)))
    now = min(length - 1, int(position_s // SEGMENT_S))
    models = models_of(caller.workspace_id)
    history = indices(
        Event.objects.filter(video=video, viewer=viewing.pseudonym(caller.workspace_id, viewer))
        .order_by("-at")
        .values_list("position_s", flat=True)[:MOST_STEPS][::-1]
    )
    path = predictor.Path(0, length, np.array([*[each for each in history if each < length], now], np.int64))
    name, found = predictor.answer(models.model, models.standby, path, predictor.steps(window))
    segments = [(now + 1 + place, round(float(chance), 4)) for place, chance in enumerate(found)]
    return Prediction(models.name if name == models.model.name else name, window, segments)


def indices(positions: Any) -> list[int]:
    """Turn positions (s) into the segments that were played, the short gaps between heartbeats filled."""
    found: list[int] = []
    for position in positions:
        index = int(position // SEGMENT_S)
        if found and 1 < index - found[-1] <= 3:
            found.extend(range(found[-1] + 1, index))
        if not found or found[-1] != index:
            found.append(index)
    return found


def models_of(workspace_id: UUID) -> Models:
    """Give the serving model of a workspace, at most five seconds old; without one the usual retention curve."""
    known = _known.get(workspace_id)
    if known and time.monotonic() - known[0] < REMEMBER_S:
        return known[1]
    rows = Predictor.objects.filter(workspace_id=workspace_id, role=Predictor.Role.TRAJECTORY)
    serving = rows.filter(serving=True).first()
    curve = rows.filter(kind=Predictor.Kind.RETENTION).order_by("-number").first()
    standby = predictor.load(curve.kind, curve.state) if curve else predictor.Retention.fit([])
    assert isinstance(standby, predictor.Retention)
    own: dict[str, list[float]] = curve.state.get("videos", {}) if curve else {}
    if serving is None or _stands_by(workspace_id):
        found = Models(standby, standby, "retention", own)
    else:
        found = Models(predictor.load(serving.kind, serving.state), standby, f"{serving.kind}:{serving.number}", own)
    _known[workspace_id] = (time.monotonic(), found)
    return found


def _stands_by(workspace_id: UUID) -> bool:
    """Say whether the retention curve serves as a measure against a collapse at one of the edges."""
    return Edge.objects.filter(workspace_id=workspace_id, measures__contains=[Measure.STANDBY.value]).exists()


def forget() -> None:
    """Forget which models serve."""
    _known.clear()
