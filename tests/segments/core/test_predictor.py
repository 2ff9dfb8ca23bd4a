from __future__ import annotations

import time

import numpy as np
import pytest

from apps.segments.core import predictor
from apps.segments.core.catalogue import Floats, Kind
from apps.segments.core.predictor import Markov, Path, Retention, View


def watched(count: int, length: int = 60, seed: int = 0, leave: float = 0.05) -> list[View]:
    rng = np.random.default_rng(seed)
    played = np.minimum(length, rng.geometric(leave, count))
    return [View(f"viewer {place}", 0, length, np.arange(segments)) for place, segments in enumerate(played)]


class Fixed:
    """A model that says the same chance of everything."""

    name = "fixed"

    def __init__(self, chance: float, slow_s: float = 0.0) -> None:
        self.chance, self.slow_s = chance, slow_s

    def predict(self, path: Path, count: int) -> Floats:
        time.sleep(self.slow_s)
        return np.full(max(0, min(count, path.length - 1 - int(path.indices[-1]))), self.chance)


class Slow:
    """A good model on a machine that is too slow."""

    name = "slow"

    def __init__(self, model: predictor.Predictor) -> None:
        self.model = model

    def predict(self, path: Path, count: int) -> Floats:
        time.sleep(0.21)
        return self.model.predict(path, count)


class Broken:
    """A model that fails."""

    name = "broken"

    def predict(self, path: Path, count: int) -> Floats:
        raise RuntimeError("no weights")


def test_the_gate_refuses_a_model_worse_than_the_retention_curve() -> None:
    seen, held_out = predictor.split(watched(400))
    retention = Retention.fit(seen)
    verdict = predictor.judge(Fixed(0.5), retention, held_out)
    assert verdict.loss > verdict.baseline
    assert not verdict.serves


def test_the_gate_refuses_a_model_that_is_only_as_good() -> None:
    seen, held_out = predictor.split(watched(400))
    retention = Retention.fit(seen)
    assert not predictor.judge(retention, retention, held_out).serves


def test_the_gate_lets_a_better_model_serve_unless_it_is_slow() -> None:
    views = watched(300)
    knowing, worse = Retention.fit(views), Fixed(0.5)
    assert predictor.judge(knowing, worse, views).serves
    slow = predictor.judge(Slow(knowing), worse, views, most=3)
    assert slow.loss < slow.baseline
    assert not slow.serves


def test_there_is_no_verdict_without_views() -> None:
    with pytest.raises(ValueError, match="held-out"):
        predictor.judge(Fixed(0.5), Fixed(0.5), [])


def test_no_viewer_is_on_both_sides_of_the_split() -> None:
    seen, held_out = predictor.split([*watched(200), *watched(200)])
    assert not {view.viewer for view in seen} & {view.viewer for view in held_out}
    assert 0.1 < len(held_out) / 400 < 0.3


def test_the_standby_answers_for_a_broken_and_for_a_slow_model() -> None:
    path, standby = Path(0, 60, np.array([3])), Fixed(0.7)
    assert predictor.answer(Broken(), standby, path, 5)[0] == "fixed"
    name, found = predictor.answer(Fixed(0.2, slow_s=0.25), standby, path, 5)
    assert found.tolist() == [0.7] * 5
    assert name == "fixed"
    assert predictor.answer(Fixed(0.2), standby, path, 5)[1].tolist() == [0.2] * 5


def test_retention_learns_how_many_go_on() -> None:
    curve = Retention.fit(watched(20_000, leave=0.05))
    assert curve.onward(60)[1:50] == pytest.approx(0.95, abs=0.02)
    survival = curve.survival(60)
    assert survival[0] == 1
    assert np.all(np.diff(survival) <= 0)
    found = curve.predict(Path(0, 60, np.array([9])), 5)
    assert found == pytest.approx(survival[10:15] / survival[9])


def test_a_chain_knows_that_who_jumped_back_plays_again() -> None:
    rng = np.random.default_rng(0)
    views = []
    for place in range(400):
        start = int(rng.integers(20, 30))
        again = start - 5
        indices = np.concatenate([np.arange(start), np.arange(again, 60)]) if place % 2 else np.arange(start)
        views.append(View(f"viewer {place}", 0, 60, indices))
    chain, curve = Markov.fit(views), Retention.fit(views)
    after_jump = Path(0, 60, np.array([23, 24, 18]))
    assert chain.predict(after_jump, 5)[-1] > curve.predict(after_jump, 5)[-1]


@pytest.mark.parametrize("model", [Retention.fit(watched(50)), Markov.fit(watched(50))], ids=lambda model: model.name)
def test_nothing_is_predicted_past_the_end(model: predictor.Predictor) -> None:
    assert len(model.predict(Path(0, 60, np.array([57])), 20)) == 2
    assert len(model.predict(Path(0, 60, np.array([59])), 20)) == 0
    found = model.predict(Path(0, 60, np.array([0])), 20)
    assert np.all((found > 0) & (found < 1))


def test_labels_say_what_was_played_within_the_window() -> None:
    view = View("one", 0, 10, np.array([0, 1, 2, 7, 8]))
    path, label = next(iter(predictor.examples([view], count=3)))
    assert path.indices.tolist() == [0]
    assert label.tolist() == [1, 1, 0]


@pytest.mark.parametrize(
    ("kind", "asked", "expected"),
    [
        (Kind.SHORT, None, 40),
        (Kind.SHORT, 10, 30),
        (Kind.FILM, 500, 120),
        (Kind.LIVE, 99, 20),
        (Kind.EDUCATION, 100, 100),
    ],
)
def test_windows_keep_to_their_kind(kind: Kind, asked: float | None, expected: float) -> None:
    assert predictor.window_s(kind, asked) == expected
    assert predictor.window_s(kind, asked, factor=0.7) == pytest.approx(0.7 * expected)
    assert 1 <= predictor.steps(expected) <= predictor.MODEL_SEGMENTS
