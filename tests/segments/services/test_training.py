"""Predictors are trained on the view log, and one that is no better than the curve may not serve."""

from __future__ import annotations

from datetime import timedelta
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from django.utils import timezone

from apps.access import services as access
from apps.access.core.callers import Caller
from apps.segments.models import Edge, Event, Predictor, Training, Video
from apps.segments.services import collapsing, predicting, scenes, training, versions, videos, viewing
from tests import factories
from tests.segments import makers

pytestmark = pytest.mark.django_db


def watched(caller: Caller, viewers: int = 120) -> None:
    """Viewers who play on from the start, and leave at different moments."""
    row, random, now = makers.video(caller, segments=60), np.random.default_rng(4), timezone.now()
    Event.objects.bulk_create(
        Event(
            workspace_id=caller.workspace_id,
            viewer=viewing.pseudonym(caller.workspace_id, f"v{number}"),
            video=row,
            session=f"s{number}",
            event="heartbeat",
            position_s=6.0 * index,
            at=now - timedelta(hours=2) + timedelta(seconds=6 * index),
        )
        for number in range(viewers)
        for index in range(int(random.integers(3, 60)))
    )


def test_training_keeps_versions_and_only_what_beats_the_curve_serves() -> None:
    caller, _ = factories.key()
    watched(caller)
    row = training.train(caller)
    assert Training.perform(row.pk, training.perform)
    made = {each.kind: each for each in Predictor.objects.all()}
    assert set(made) == {"retention", "markov", "transformer"}
    assert made["retention"].loss == pytest.approx(made["retention"].baseline)
    serving = Predictor.objects.filter(serving=True).first()
    assert (serving is not None) == any(each.passes for each in made.values())
    predicting.forget()
    assert predicting.models_of(caller.workspace_id).standby.survival(60)[-1] < 0.5


def test_a_model_that_is_worse_is_refused_and_the_curve_never_is() -> None:
    caller, _ = factories.key()
    curve = {"first": [0.9] * 10, "later": [0.9] * 50}
    common = {"workspace_id": caller.workspace_id, "loss": 0.5, "baseline": 0.4}
    worse = Predictor.objects.create(**common, number=1, kind="markov", state={})
    plain = Predictor.objects.create(**common, number=2, kind="retention", state=curve)
    with pytest.raises(access.Conflict, match=r"0\.5000 against 0\.4000"):
        versions.serve(caller, worse)
    assert versions.serve(caller, plain).serving


def test_too_few_views_are_told() -> None:
    caller, _ = factories.key()
    row = training.train(caller)
    assert not Training.perform(row.pk, training.perform)
    assert "training needs 50" in Training.objects.get().error


def test_the_curve_serves_while_that_is_the_measure_against_a_collapse() -> None:
    caller, _ = factories.key()
    chances = np.full((1, 12), 0.5)
    state = {"chances": chances.tolist()}
    common = {"workspace_id": caller.workspace_id, "loss": 0.3, "baseline": 0.4, "passes": True, "serving": True}
    Predictor.objects.create(**common, number=1, kind="markov", state=state)
    edge = Edge.objects.create(workspace_id=caller.workspace_id, name="north", capacity_bytes=10**8)
    predicting.forget()
    assert predicting.models_of(caller.workspace_id).name == "markov:1"
    collapsing.take_measure(caller, edge, "standby_model")
    predicting.forget()
    assert predicting.models_of(caller.workspace_id).name == "retention"
    Edge.objects.update(measures=[])
    predicting.forget()
    assert predicting.models_of(caller.workspace_id).name == "markov:1"


def test_a_scene_model_serves_beside_the_predictor_and_cuts_the_next_video(tmp_path: Path, settings: Any) -> None:
    caller, _ = factories.key()
    row = training.train(caller, "scene")
    made = scenes.train(row, clips=400, epochs=5)
    made.refresh_from_db()
    assert (made.role, made.kind, made.serving) == ("scene", "scene", made.passes)
    if not made.passes:
        with pytest.raises(access.Conflict, match="the threshold on unseen clips"):
            versions.serve(caller, made)
    versions.put_in_service(caller.workspace_id, made)
    predicting.forget()
    assert predicting.models_of(caller.workspace_id).name == "retention"
    settings.MEDIA_ROOT = tmp_path / "media"
    file = makers.lecture(tmp_path / "a.mp4", "Gradient descent", "Learning rate", seconds=6)
    video = videos.register(caller, {"title": "A", "kind": "film"}, [file.read_bytes()])
    assert Video.perform(video.pk, videos.perform)
    assert list(video.moments.order_by("index").values_list("cuts", flat=True)) == [0, 1]


def test_there_are_only_so_many_kinds() -> None:
    with pytest.raises(access.Invalid, match="no such kind"):
        training.train(factories.key()[0], "oracle")
