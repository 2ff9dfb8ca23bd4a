"""The cache in memory: it decides as the product does, and the benchmark reads its shares off fairly."""

import itertools

import numpy as np
import pytest
from numpy.typing import NDArray

from apps.answers.core.judge import Verdict
from apps.answers.core.policy import Policy
from apps.answers.core.simulation import labels, study
from apps.answers.core.simulation.bench import NO_GUARDS, Bench, at
from apps.answers.core.simulation.cache import Cache, Golden, Traffic
from apps.answers.core.simulation.stream import Stream, draw, medoids


def world(classes: int = 12, each: int = 30, seed: int = 0) -> tuple[list[str], NDArray[np.float32], NDArray[np.int64]]:
    """Make questions whose vectors lie around their class's direction."""
    random = np.random.default_rng(seed)
    centres = random.normal(size=(classes, 24))
    vectors = np.repeat(centres, each, axis=0) + random.normal(size=(classes * each, 24)) * 1.1
    vectors /= np.linalg.norm(vectors, axis=1, keepdims=True)
    names = np.repeat(np.arange(classes), each)
    return [f"question {number} of {name}" for number, name in enumerate(names)], vectors.astype(np.float32), names


@pytest.fixture(scope="module")
def stream() -> Stream:
    return draw(*world(), seed=1, length=3_000)


@pytest.fixture(scope="module")
def bench(stream: Stream) -> Bench:
    return Bench(stream, 1, 0)


def small(judge: Verdict | None) -> Cache:
    """Two golden questions; question 2 is a near miss of the first."""
    near = np.array([[1, 0, 0.7], [0, 1, 0.1], [0.7, 0.1, 1]], np.float32)
    traffic = Traffic(["red", "blue", "crimson"], near, near[:, :2])
    said = None if judge is None else (lambda *pair: judge)
    return Cache(NO_GUARDS, traffic, Golden(["red", "blue"], [0, 1]), said)


def test_an_approved_near_miss_is_promoted_after_it_was_served() -> None:
    cache = small(Verdict.APPROVE)
    first, second = cache.ask(2, 9), cache.ask(2, 9)
    assert (first.outcome, first.judged) == ("miss", Verdict.APPROVE)
    assert (second.outcome, second.answer, second.from_golden) == ("dynamic_hit", 0, True)


@pytest.mark.parametrize("verdict", [Verdict.REJECT, Verdict.UNSURE, None])
def test_what_was_not_approved_keeps_its_own_answer(verdict: Verdict | None) -> None:
    cache = small(verdict)
    assert cache.ask(2, 9).outcome == "miss"
    assert (cache.ask(2, 9).answer, cache.ask(2, 9).from_golden) == (9, False)


def test_a_golden_question_itself_is_an_exact_hit() -> None:
    assert small(None).ask(1, 1).outcome == "static_hit"


def test_history_and_measured_part_are_the_whole_stream(stream: Stream) -> None:
    assert len(stream.history) == 600
    assert (np.concatenate([stream.history, stream.measured]) == stream.asked).all()


def test_a_seed_draws_the_same_stream_again() -> None:
    one, other, third = (draw(*world(), seed=seed, length=500) for seed in (5, 5, 6))
    assert one.texts == other.texts
    assert (one.asked == other.asked).all()
    assert one.texts != third.texts


def test_the_static_tier_comes_from_history_alone(stream: Stream) -> None:
    chosen = medoids(stream, 2)
    assert set(chosen) <= set(stream.history.tolist())
    counts = np.unique(stream.classes[chosen], return_counts=True)[1]
    assert counts.max() <= 2


def test_labels_come_from_history_and_leave_themselves_out(stream: Stream, bench: Bench) -> None:
    found = labels.most_asked(stream, bench.traffic, bench.golden)
    assert set(found.questions) <= set(stream.history.tolist())
    asked = np.bincount(stream.history, minlength=len(stream.texts))
    assert all(asked[a] >= asked[b] for a, b in itertools.pairwise(found.questions))
    approved = next(q for q, same in zip(found.questions, found.same, strict=True) if same)
    assert found.around(approved)["support"] < 0.999


def test_an_oracle_never_approves_wrongly_and_errs_no_more_than_it_serves(bench: Bench) -> None:
    result = bench.run(at(NO_GUARDS, 0.8), bench.judges["krites_oracle"])
    assert result.false_approvals == 0
    assert result.approvals > 0
    assert result.errors <= result.hits <= result.requests
    assert result.golden <= result.hits


def test_without_a_judge_nothing_is_verified(bench: Bench) -> None:
    result = bench.run(at(NO_GUARDS, 0.8), None)
    assert (result.verifications, result.approvals) == (0, 0)


def test_a_judge_adds_static_hits_and_never_latency_or_misses(bench: Bench) -> None:
    plain = bench.run(at(NO_GUARDS, 0.85), None)
    judged = bench.run(at(NO_GUARDS, 0.85), bench.judges["krites_oracle"])
    assert judged.golden > plain.golden


def test_a_tuned_threshold_falls_as_the_budget_grows(bench: Bench) -> None:
    taus = [bench.tuned(Policy(), budget).tau_static for budget in (0.01, 0.05, 0.2)]
    assert taus == sorted(taus, reverse=True)


def test_shares_are_interpolated_where_errors_are_equal() -> None:
    points = [(0.0, 0.1, 0.2), (0.02, 0.3, 0.4), (0.06, 0.5, 0.6)]
    assert study.read_off(points, 0.01) == pytest.approx((0.2, 0.3))
    assert study.read_off(points, 0.04) == pytest.approx((0.4, 0.5))
    assert study.read_off(points, 0.07) is None


def test_the_rows_hold_exactly_the_fields_of_the_contract(stream: Stream) -> None:
    policy = list(study.policy_rows("made", stream, 1, 1))
    assert {row["policy"] for row in policy} == {"static", "krites_oracle", "krites_offline", "touchstone"}
    assert set(policy[0]) == {
        *("part", "data", "seed", "per_class", "budget", "policy", "static_share", "hit_share", "error_share"),
        *("error_upper95", "verifications", "approvals", "false_approvals"),
    }
    equal = list(study.equal_error_rows("made", [stream], 1))
    assert set(equal[0]) == {"part", "data", "per_class", "error", "policy", "static_share", "hit_share"}
