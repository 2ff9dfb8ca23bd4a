"""Train predictors on the view log; the best that beats the retention curve on unseen viewers serves."""

from __future__ import annotations

from itertools import groupby
from typing import Any
from uuid import UUID

import numpy as np

from apps.access import services as access
from apps.access.core.callers import Caller
from apps.segments.core import predictor
from apps.segments.core.catalogue import SEGMENT_S
from apps.segments.core.predictor import View
from apps.segments.models import Event, Predictor, Training
from apps.segments.services import predicting, scenes, versions

MOST_EVENTS = 2_000_000
FEWEST_VIEWS = 50
FEWEST_OWN, MOST_OWN = 10, 500  # views from which a video has a curve of its own, and how many videos have one
Kind = Predictor.Kind


def train(caller: Caller, kind: str = "") -> Training:
    """Queue a training of one kind of model, or of all that learn from the view log.

    Raises:
        Invalid: there is no such kind.
    """
    if kind and kind not in Kind.values:
        raise access.Invalid("There is no such kind of model.", field="kind")
    row = Training.submit(workspace_id=caller.workspace_id, kind=kind, by=caller.name)
    access.record(caller, "asked to train", row, kind=kind or "all")
    return row


def perform(row: Training) -> None:
    """Fit on some viewers, judge on the others, keep versions, and let the best of those that pass serve.

    Raises:
        Invalid: there are too few views.
    """
    if row.kind == Kind.SCENE:
        _tell(row, [scenes.train(row)])
        return
    views, videos = views_of(row.workspace_id)
    if len(views) < FEWEST_VIEWS:
        raise access.Invalid(f"There are {len(views)} views; training needs {FEWEST_VIEWS}.")
    known, unseen = predictor.split(views)
    curve = predictor.Retention.fit(known)
    models: dict[str, predictor.Predictor] = {Kind.RETENTION: curve}
    if row.kind in ("", Kind.MARKOV):
        models[Kind.MARKOV] = predictor.Markov.fit(known)
    if row.kind in ("", Kind.TRANSFORMER):
        models[Kind.TRANSFORMER] = predictor.fit(known, renew=row.renew)
    row.renew()
    made = [_keep(row, kind, model, curve, unseen, len(views)) for kind, model in models.items()]
    passing = [each for each in made if each.passes]
    if passing:
        versions.put_in_service(row.workspace_id, min(passing, key=lambda each: each.loss or 0.0))
    _draw_curves(made[0], curve, known, videos)
    _tell(row, made, views=len(views))


def _tell(row: Training, made: list[Predictor], **more: int) -> None:
    told = {f"{each.kind}:{each.number}": {"loss": each.loss, "baseline": each.baseline} for each in made}
    Training.objects.filter(pk=row.pk).update(result={**more, "models": told})


def _draw_curves(row: Predictor, curve: predictor.Retention, views: list[View], videos: list[UUID]) -> None:
    """Keep with the retention curve those of the videos that are watched most, for plans."""
    own: dict[int, list[View]] = {}
    for view in views:
        own.setdefault(view.video, []).append(view)
    most = sorted(own, key=lambda video: -len(own[video]))[:MOST_OWN]
    curves = {
        str(videos[video]): predictor.onward_of(own[video], curve.onward(own[video][0].length)).round(4).tolist()
        for video in most if len(own[video]) >= FEWEST_OWN
    }  # fmt: skip
    Predictor.objects.filter(pk=row.pk).update(state={**row.state, "videos": curves})
    predicting.forget()


def views_of(workspace_id: UUID) -> tuple[list[View], list[UUID]]:
    """Read the view log as viewings: one a viewer, session and video, in the order of play; and the videos' keys."""
    rows = Event.objects.filter(workspace_id=workspace_id, video__duration_s__isnull=False)
    told = rows.order_by("viewer", "session", "video_id", "at").values_list(
        "viewer", "session", "video_id", "position_s", "video__duration_s"
    )[:MOST_EVENTS]
    views, numbers = [], dict[UUID, int]()
    for (viewer, _session, video), events in groupby(told.iterator(5_000), key=_viewing):
        listed = list(events)
        length = max(1, int(np.ceil(float(listed[0][4] or 0) / SEGMENT_S)))
        played = [index for index in predicting.indices(each[3] for each in listed) if index < length]
        if len(played) > 1:
            number = numbers.setdefault(video, len(numbers))
            views.append(View(viewer.hex(), number, length, np.array(played, np.int64)))
    return views, list(numbers)


def _viewing(event: tuple[Any, ...]) -> tuple[Any, ...]:
    return (bytes(event[0]), *event[1:3])


def _keep(
    row: Training, kind: str, model: predictor.Predictor, curve: predictor.Retention, unseen: list[View], views: int
) -> Predictor:
    verdict = predictor.judge(model, curve, unseen)
    return Predictor.objects.create(
        workspace_id=row.workspace_id, number=versions.next_number(row.workspace_id), kind=kind,
        state=predictor.dump(model), loss=verdict.loss, baseline=verdict.baseline, p99_ms=verdict.p99_ms,
        examples=verdict.examples, views=views, passes=verdict.serves, by=row.by,
    )  # fmt: skip
