"""Agreement, and the guard that keeps it."""

import numpy as np
import pytest
from onnx import helper

from apps.inference.core import calibration, comparing, engine, graph
from tests.inference.core.networks import Net


def test_a_guard_looks_often_at_first_and_seldom_when_all_is_well() -> None:
    guard = calibration.Guard()
    looks = []
    for number in range(400):
        if guard.due():
            looks.append(number)
            guard.observe(1.0)
    gaps = np.diff(looks)
    assert looks[0] == 0
    assert gaps[0] <= 3
    assert 30 <= gaps[-1] <= 61
    assert guard.agreement() == 1.0


def test_a_guard_tightens_when_agreement_falls_and_looks_again_soon() -> None:
    guard = calibration.Guard()
    before = guard.settings(engine.Settings(mode="budget"))
    assert guard.observe(1.0) is False
    assert guard.observe(0.0) is True
    after = guard.settings(engine.Settings(mode="budget"))
    assert after.psnr_db > before.psnr_db
    assert after.eps <= before.eps
    assert sum(guard.due() for _ in range(4)) >= 1


def test_a_guard_never_leaves_its_ladder_and_ends_at_equal_blocks_only() -> None:
    guard = calibration.Guard()
    for _ in range(50):
        guard.observe(0.0)
    tightest = guard.settings(engine.Settings(mode="budget"))
    assert (tightest.psnr_db, tightest.eps) == (np.inf, 0.0)
    assert guard.observe(0.0) is False


def test_a_guard_loosens_after_long_agreement() -> None:
    guard = calibration.Guard(patience=5)
    assert [guard.observe(1.0) for _ in range(5)] == [False] * 4 + [True]
    assert guard.rung == calibration.START - 1


def test_a_guard_that_had_to_step_back_is_slower_to_loosen_again() -> None:
    guard = calibration.Guard(patience=2)
    guard.observe(0.0)
    assert [guard.observe(1.0) for _ in range(4)] == [False] * 3 + [True]


def test_a_guard_stays_where_a_looser_rung_would_miss_the_target() -> None:
    guard = calibration.Guard(patience=1)
    assert not any(guard.observe(1.0, expected=0.99, looser=0.9) for _ in range(20))
    graded = calibration.Guard(patience=1)
    assert not any(graded.observe(0.985) for _ in range(20))


def test_a_guard_tightens_when_the_margins_foretell_flips() -> None:
    guard = calibration.Guard()
    assert guard.observe(1.0, expected=0.9) is True
    assert guard.rung == calibration.START + 1


def test_a_guard_that_had_to_step_back_waits_longer_before_it_explores() -> None:
    guard = calibration.Guard()
    assert [bailed for bailed in range(1, 9) if guard.explores(bailed)] == [3, 7]
    guard.observe(0.0)
    assert [bailed for bailed in range(1, 17) if guard.explores(bailed)] == [7, 15]


def _reads_noise() -> calibration.Watched:
    """A watched stream of a network that reads noise below the threshold as a class."""
    net = Net(0, maps=[("image", 1, 32, 32)])
    weight = np.array([1.0, -1.0], dtype=np.float32).reshape(2, 1, 1, 1)
    net.node("Conv", ["image", net.constant(weight), net.constant([0.0, 200.0])], (2, 32, 32))
    net.nodes += [
        helper.make_node("GlobalAveragePool", ["t0"], ["p"]),
        helper.make_node("Flatten", ["p"], ["logits"]),
    ]
    loaded = graph.load(net.model(["logits"]))
    pixels = engine.Pixels((0.0,), (1 / 255,))
    cached = engine.Engine(loaded, 32, 32, engine.Settings(mode="budget", bail_out_share=2.0), pixels)
    return calibration.Watched(cached, "classification")


def test_a_watched_stream_whose_results_differ_becomes_exact() -> None:
    """Only equal blocks may be reused where noise decides."""
    watched = _reads_noise()
    agreed = []
    for number in range(60):
        image = np.full((32, 32, 1), 99 + 2 * (number % 2), dtype=np.uint8)
        plain = watched.engine.shadow(image)
        agreed.append(comparing.agreement("classification", watched.frame(image)[0].outputs, plain))
    assert watched.guard.rung > calibration.START
    assert agreed[-20:] == [1.0] * 20


def test_close_answers_bring_a_shadow_run_forward() -> None:
    watched, image = _reads_noise(), np.full((32, 32, 1), 40, dtype=np.uint8)
    for _ in range(40):
        watched.frame(image)
    result = watched.look(image)
    assert (result.outcome, watched.due(result)) == ("reused", False)
    watched.doubt.errors.append(1.0)
    watched.doubt.seen.extend([0.1] * 90)
    watched.engine.pace.saved_ms = 1e6
    assert watched.due(result)


@pytest.mark.parametrize(("found", "rungs"), [(0.975, 1), (0.97, 2), (0.88, 3), (0.0, 1)])
def test_a_graded_disagreement_tightens_by_as_much_as_it_tells(found: float, rungs: int) -> None:
    guard = calibration.Guard()
    assert guard.observe(found) is True
    assert guard.rung == calibration.START + rungs


def test_a_rung_is_proven_by_several_runs_the_last_of_which_agreed() -> None:
    guard = calibration.Guard(patience=10)
    for _ in range(2):
        guard.observe(1.0)
        assert not guard.proven
    guard.observe(1.0)
    assert guard.proven
    guard.observe(0.9)
    assert not guard.proven
