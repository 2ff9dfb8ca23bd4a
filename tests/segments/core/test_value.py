from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from apps.segments.core import catalogue, value
from apps.segments.core.catalogue import Catalogue, Floats, Kind

LENGTH, TAU = 6, 90.0
ONE = catalogue.of([LENGTH], [1], [100] * LENGTH)
Viewers = list[tuple[int, float]]


def simulated(index: int, viewers: Viewers, survival: Floats, rate: float, back: float, draws: int = 40_000) -> float:
    """Play the future many times over: the first of those behind, of new starters and of returners counts."""
    rng = np.random.default_rng(1)
    first = np.full(draws, np.inf)
    for there, idle in viewers:
        if there < index:
            stays = survival[index] / survival[there] * np.exp(-max(0.0, idle - 6) / 120)
            wait = (index - there) * 6 - min(idle, 6)
            first = np.minimum(first, np.where(rng.random(draws) < stays, wait, np.inf))
    if rate:
        first = np.minimum(first, index * 6 + rng.exponential(1 / (rate * survival[index]), draws))
    if back:
        first = np.minimum(first, rng.exponential(1 / back, draws))
    return float(np.exp(-first / TAU).mean())


@settings(max_examples=25, deadline=None)
@given(
    viewers=st.lists(st.tuples(st.integers(0, LENGTH - 1), st.floats(0, 200)), max_size=4),
    keeps=st.lists(st.floats(0.3, 1.0), min_size=LENGTH - 1, max_size=LENGTH - 1),
    rate=st.sampled_from([0.0, 0.001, 0.05]),
)
def test_a_value_is_the_expected_discounted_next_access(viewers: Viewers, keeps: list[float], rate: float) -> None:
    survival: Floats = np.concatenate([[1.0], np.cumprod(keeps)])
    crowd = value.crowd([(0, 0, index, idle) for index, idle in viewers])
    found = value.next_access(ONE, crowd, value.Demand(survival, np.array([[rate]])), TAU).value
    for index in range(LENGTH):
        assert found[index] == pytest.approx(simulated(index, viewers, survival, rate, 0.0), abs=0.012)


@pytest.mark.parametrize(("rate", "back"), [(0.0, 0.02), (0.01, 0.02), (0.1, 0.001)])
def test_those_who_come_back_count_from_now_on(rate: float, back: float) -> None:
    survival: Floats = np.power(0.9, np.arange(LENGTH))
    demand = value.Demand(survival, np.array([[rate]]), returning=np.full((LENGTH, 1), back))
    found = value.next_access(ONE, value.crowd([]), demand, TAU).value
    for index in range(LENGTH):
        assert found[index] == pytest.approx(simulated(index, [], survival, rate, back), abs=0.012)


def test_viewers_of_another_rendition_and_in_front_do_not_count() -> None:
    two = catalogue.of([4], [2], [1] * 8)
    demand = value.Demand(np.ones(4), np.zeros((1, 2)))
    found = value.next_access(two, value.crowd([(0, 1, 1, 0.0)]), demand, TAU)
    assert found.value[:4].tolist() == [0, 0, 0, 0]
    assert found.value[4:6].tolist() == [0, 0]
    assert found.soon_s[6:].tolist() == [6.0, 12.0]
    assert found.value[6] > found.value[7] > 0


def test_a_turn_over_time_must_be_positive() -> None:
    with pytest.raises(ValueError, match="positive"):
        value.next_access(ONE, value.crowd([]), value.Demand(np.ones(LENGTH), np.zeros((1, 1))), 0.0)


def test_who_stopped_comes_back_where_he_stopped_and_goes_on() -> None:
    stopped = value.crowd([(0, 0, 2, 500.0), (0, 0, 2, 5000.0), (0, 0, 1, 99_999.0)])
    survival: Floats = np.power(0.5, np.arange(LENGTH))
    found = value.returns(ONE, stopped, survival, np.array([0.1, 0.01]), np.array([0.0, 1000.0, 10_000.0]))
    assert found[:, 0] == pytest.approx([0, 0, 0.11, 0.055, 0.0275, 0.01375])


def test_each_multiplier_touches_its_own_rows() -> None:
    four = Catalogue(np.array([12, 12]), np.array([1, 1]), np.ones(24, np.int64), np.array([Kind.EDUCATION, Kind.FILM]))
    exercise, tagged = np.zeros(24, np.bool_), np.zeros(24, np.bool_)
    exercise[11], tagged[23] = True, True
    traits = value.Traits(np.full(24, 0.5), np.full(24, 0.8), exercise, {"exam": tagged})
    found = value.adjustment(four, traits, value.Multipliers(tags={"exam": 2.0, "unknown": 9.0}))
    assert found[[0, 10, 11]] == pytest.approx([1.15 * 1.2, 1.15, 1.15 * 1.5])
    assert found[[12, 22, 23]] == pytest.approx([0.8 * 1.2, 0.8, 1.6])


def test_multipliers_of_one_change_nothing() -> None:
    neutral = value.Multipliers(density=0, first_minute=1, exercise=1)
    assert value.adjustment(ONE, value.plain_traits(ONE), neutral).tolist() == [1.0] * LENGTH


def test_the_source_score_falls_with_the_root_of_age() -> None:
    found = value.source_score(np.array([0.5, 0.5]), np.array([8, 8]), np.ones(2), np.array([4.0, 0.0]))
    assert found.tolist() == [2.0, 4.0]
