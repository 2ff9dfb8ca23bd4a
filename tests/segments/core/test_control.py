from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from apps.segments.core import control
from apps.segments.core.control import Check, Comparison, Health, Marks, Measure, Mode


@pytest.mark.parametrize(("load", "factor"), [(0.0, 1.0), (0.7, 1.0), (0.8, 1.05), (1.0, 1.15)])
def test_the_eviction_threshold_rises_above_seventy_percent_load(load: float, factor: float) -> None:
    assert control.eviction_threshold(2.0, load) == pytest.approx(2.0 * factor)


@pytest.mark.parametrize(("base", "load"), [(-1.0, 0.5), (1.0, -0.1), (1.0, 1.1), (1.0, float("nan"))])
def test_a_threshold_of_nonsense_is_refused(base: float, load: float) -> None:
    with pytest.raises(ValueError, match="between"):
        control.eviction_threshold(base, load)


def test_the_origin_limit_starts_at_four_fifths_of_the_line() -> None:
    assert control.origin_limit(10e6).current_bps == 8e6
    with pytest.raises(ValueError, match="positive"):
        control.origin_limit(0)


@pytest.mark.parametrize(
    ("retransmission", "expected"), [(0.021, 7.2e6), (0.02, 8e6), (0.005, 8e6), (0.0049, 8e6), (0.0, 8e6), (1.0, 7.2e6)]
)
def test_the_limit_falls_only_above_the_high_mark(retransmission: float, expected: float) -> None:
    assert control.origin_limit(10e6).after(retransmission, 300).current_bps == pytest.approx(expected)


def test_the_limit_moves_every_five_minutes_and_recovers_up_to_its_original() -> None:
    low = control.origin_limit(10e6).after(0.05, 300)
    assert low.after(0.05, 599) is low
    back = low.after(0.0, 600)
    assert back.current_bps == pytest.approx(7.92e6)
    assert back.after(0.0, 900).current_bps == 8e6


@given(st.lists(st.floats(0, 1), max_size=50))
def test_the_limit_never_leaves_its_bounds(history: list[float]) -> None:
    limit = control.origin_limit(10e6)
    for turn, retransmission in enumerate(history, 1):
        limit = limit.after(retransmission, turn * 300.0)
        assert 0 < limit.current_bps <= limit.original_bps


def test_the_marks_of_the_source_are_looser() -> None:
    assert control.origin_limit(10e6).after(0.08, 300, control.SOURCE_MARKS).current_bps == 8e6
    with pytest.raises(ValueError, match="Marks"):
        Marks(high=0.1, low=0.2)
    with pytest.raises(ValueError, match="share"):
        control.origin_limit(1.0).after(1.5, 300)


def test_a_collapse_is_a_fall_from_85_to_50_percent() -> None:
    well = Health(10, 60, 0.1)
    assert control.collapse(0.85, 0.51, well) is None
    assert control.collapse(0.0, 0.0, well) is None
    alarm = control.collapse(0.85, 0.5, well)
    assert alarm is not None
    assert alarm.failed == ()
    assert set(alarm.measures) == set(Measure)


@pytest.mark.parametrize(
    ("health", "check", "measure"),
    [
        (Health(201, 60, 0.1), Check.LATENCY, Measure.STANDBY),
        (Health(200, 86_401, 0.1), Check.FEATURES, Measure.WINDOW),
        (Health(200, 86_400, 0.31), Check.PATTERN, Measure.PREWARM),
    ],
)
def test_a_failed_check_names_its_measure(health: Health, check: Check, measure: Measure) -> None:
    alarm = control.collapse(0.8, 0.1, health)
    assert alarm is not None
    assert (alarm.failed, alarm.measures) == ((check,), (measure,))


def test_a_shift_is_the_distance_of_two_histograms() -> None:
    assert control.pattern_shift([1, 1], [5, 5]) == 0
    assert control.pattern_shift([1, 0], [0, 3]) == 1
    assert control.pattern_shift([], []) == 0
    assert control.pattern_shift([0, 0], [0, 3]) == 1
    with pytest.raises(ValueError, match="length"):
        control.pattern_shift([1], [1, 2])
    with pytest.raises(ValueError, match="negative"):
        control.pattern_shift([-1], [1])


def lost(share: float) -> Comparison:
    return Comparison(round(1000 * (1 + share)), 1000)


@pytest.mark.parametrize(
    ("mode", "losses", "expected"),
    [
        (Mode.ACTIVE, [], Mode.ACTIVE),
        (Mode.ACTIVE, [0.1, 0.1], Mode.ACTIVE),
        (Mode.ACTIVE, [0.1, 0.1, 0.1], Mode.FALLBACK),
        (Mode.ACTIVE, [0.1, -0.1, 0.1], Mode.ACTIVE),
        (Mode.ACTIVE, [0.25], Mode.FALLBACK),
        (Mode.FALLBACK, [-0.1, -0.1], Mode.FALLBACK),
        (Mode.FALLBACK, [-0.1, -0.1, -0.1], Mode.SHADOW),
        (Mode.SHADOW, [0.5, 0.5, 0.5], Mode.SHADOW),
    ],
)
def test_an_edge_where_the_plan_loses_falls_back_by_itself(mode: Mode, losses: list[float], expected: Mode) -> None:
    assert control.next_mode(mode, [lost(share) for share in losses]) is expected


def test_a_window_without_traffic_says_nothing() -> None:
    assert Comparison(0, 0).saved_share == 0.0
