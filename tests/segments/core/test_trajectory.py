"""The trajectory transformer: untrained it is the curve, trained it knows more, and it comes back from its file."""

from __future__ import annotations

import json

import numpy as np
import pytest
import torch

from apps.segments.core import predictor
from apps.segments.core.predictor import Path, Retention, Trajectory, View
from apps.segments.core.predictor.trajectory import HISTORY, forward, initial, read

LENGTH = 40


def views(count: int = 400) -> list[View]:
    """Half of the viewers play on to the end; the others play two segments and skip two, all along."""
    skipping = np.array([index for index in range(LENGTH) if index % 4 < 2])
    return [View(f"v{number}", 0, LENGTH, np.arange(LENGTH) if number % 2 else skipping) for number in range(count)]


@pytest.fixture(scope="module")
def fitted() -> Trajectory:
    return predictor.fit(views())


def test_untrained_it_says_what_the_curve_says() -> None:
    curve = Retention.fit(views())
    path = Path(0, LENGTH, np.array([3, 4, 5]))
    found = Trajectory(initial(), curve).predict(path, 20)
    np.testing.assert_allclose(found, np.clip(curve.predict(path, 20), 1e-4, 1 - 1e-4), atol=1e-9)


def test_it_tells_viewers_apart_by_what_they_did(fitted: Trajectory) -> None:
    on = fitted.predict(Path(0, LENGTH, np.arange(14)), 4)
    skips = fitted.predict(Path(0, LENGTH, np.array([0, 1, 4, 5, 8, 9, 12, 13])), 4)
    assert on.min() > 0.9
    assert skips[:2].max() < 0.1
    assert skips[2:].min() > 0.9


def test_it_passes_the_gate_where_there_is_something_to_know(fitted: Trajectory) -> None:
    verdict = predictor.judge(fitted, fitted.curve, views())
    assert verdict.serves
    assert verdict.loss < 0.5 * verdict.baseline


def test_it_comes_back_from_json(fitted: Trajectory) -> None:
    state = json.loads(json.dumps(predictor.dump(fitted)))
    again = predictor.load("transformer", state)
    for length in (1, 5, 30):
        path = Path(0, LENGTH, np.arange(length))
        np.testing.assert_allclose(again.predict(path, 20), fitted.predict(path, 20), atol=1e-5)


def test_numpy_and_torch_agree() -> None:
    paths = [Path(0, LENGTH, np.arange(length)) for length in (1, 2, HISTORY, LENGTH - 1)]
    inputs = read(paths, Retention.fit([]))
    rng = np.random.default_rng(1)
    weights = {name: each + rng.normal(0, 0.1, each.shape) for name, each in initial(3).items()}
    ours = forward(np, weights, inputs.step, inputs.place, inputs.there, inputs.base)
    theirs = forward(
        torch, {name: torch.tensor(each) for name, each in weights.items()}, torch.tensor(inputs.step),
        torch.tensor(inputs.place), torch.tensor(inputs.there), torch.tensor(inputs.base),
    )  # fmt: skip
    np.testing.assert_allclose(ours, theirs.numpy(), atol=1e-9)


@pytest.mark.parametrize("index", [LENGTH - 1, LENGTH - 2])
def test_it_says_nothing_past_the_end(fitted: Trajectory, index: int) -> None:
    assert len(fitted.predict(Path(0, LENGTH, np.array([index])), 20)) == LENGTH - 1 - index


def test_there_must_be_something_to_learn_from() -> None:
    with pytest.raises(ValueError, match="nothing to learn"):
        predictor.fit([View("a", 0, 1, np.array([0]))])
