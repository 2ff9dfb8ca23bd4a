from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from apps.segments.core import catalogue, plan, value
from apps.segments.core.plan import Edge, Plan, Rules, Stage, Wish

ROWS = 10
TEN = catalogue.of([ROWS], [1], [100] * ROWS)


def values(scores: list[float]) -> value.Values:
    found = np.array(scores, np.float64)
    return value.Values(found, np.full(ROWS, np.inf), np.zeros(ROWS), found)


def made(cached: list[int], scores: list[float], capacity: int, **more: object) -> Plan:
    inside = np.zeros(ROWS, np.bool_)
    inside[cached] = True
    edge = Edge(capacity, inside, limit_bps=float(str(more.pop("limit_bps", 1e9))))
    return plan.make(TEN, values(scores), np.ones(ROWS), edge, **more)  # type: ignore[arg-type]


def rows(lines: list[plan.Line]) -> list[int]:
    return [line.row for line in lines]


def test_what_is_worth_least_leaves_first() -> None:
    found = made([0, 1, 2, 3], [0.4, 0.1, 0.3, 0.2, *[0.0] * 6], 300, rules=Rules(fill=1.0))
    assert rows(found.evict) == [1]
    assert sorted(rows(found.keep)) == [0, 2, 3]


def test_nothing_leaves_for_a_wish_that_is_worth_less() -> None:
    wish = Wish(9, Stage.PATH, 6, 0.2, "next")
    found = made([0, 1], [0.5, 0.6, *[0.0] * 8], 200, wishes=[wish], rules=Rules(fill=1.0))
    assert not found.prewarm
    assert "worth less" in found.refused[0].reason


def test_earlier_stages_come_first_when_requests_are_scarce() -> None:
    wishes = [
        Wish(7, Stage.PLACEMENT, 0, 1.0, "release"),
        Wish(8, Stage.INTENT, 0, 0.5, "page"),
        Wish(9, Stage.PATH, 6, 0.9, "next"),
        Wish(9, Stage.PLACEMENT, 6, 1.0, "again"),
    ]
    found = made([], [0.0] * ROWS, 10_000, wishes=wishes, rules=Rules(requests=2))
    assert rows(found.prewarm) == [9, 8]
    assert rows(found.refused) == [7]


def test_the_origin_limit_bounds_the_bytes() -> None:
    wishes = [Wish(row, Stage.PATH, 6, 0.9, "next") for row in range(5)]
    found = made([], [0.0] * ROWS, 10_000, wishes=wishes, limit_bps=200.0, rules=Rules(interval_s=10))
    assert found.budget_bytes == 250
    assert len(found.prewarm) == 2


def test_pins_over_the_cap_are_refused_and_pins_never_leave() -> None:
    pins = [(row, "exercise") for row in (1, 2, 3)]
    found = made([1, 5, 6], [0.0, *[0.5] * 9], 300, pins=pins, rules=Rules(pin_share=0.67, fill=0.7))
    assert rows(found.pin) == [1, 2]
    assert rows(found.refused) == [3]
    assert 2 in rows(found.prewarm)
    assert 1 not in rows(found.evict)


def test_a_plan_in_shadow_says_so() -> None:
    assert made([], [0.0] * ROWS, 100, rules=Rules(shadow=True)).shadow


@settings(max_examples=100, deadline=None)
@given(
    cached=st.sets(st.integers(0, ROWS - 1)),
    scores=st.lists(st.floats(0, 1), min_size=ROWS, max_size=ROWS),
    wanted=st.lists(st.tuples(st.integers(0, ROWS - 1), st.sampled_from(list(Stage)), st.floats(0, 1)), max_size=12),
    capacity=st.integers(0, 1500),
)
def test_a_plan_never_overfills_an_edge_and_explains_each_line(
    cached: set[int], scores: list[float], wanted: list[tuple[int, Stage, float]], capacity: int
) -> None:
    wishes = [Wish(row, stage, 6.0, chance, "wanted") for row, stage, chance in wanted]
    found = made(sorted(cached), scores, capacity, wishes=wishes)
    stays = (cached - set(rows(found.evict))) | set(rows(found.prewarm))
    assert len(stays) * 100 <= capacity
    assert not set(rows(found.evict)) & set(rows(found.keep))
    assert all(line.reason for line in [*found.prewarm, *found.evict, *found.keep, *found.refused])
    assert len(set(rows(found.prewarm))) == len(found.prewarm)


def test_a_plan_for_a_large_edge_covers_every_segment() -> None:
    rng = np.random.default_rng(0)
    large = catalogue.of([600] * 56, [3] * 56, rng.integers(200_000, 1_500_000, 56 * 1800).tolist())
    viewers = [(int(a), int(b), int(c), 3.0) for a, b, c in rng.integers(0, (56, 3, 600), (5000, 3))]
    demand = value.Demand(np.tile(0.998 ** np.arange(600), 56), np.full((56, 3), 1 / 3600))
    worth = value.next_access(large, value.crowd(viewers), demand, 3600.0)
    everything = np.ones(len(large.sizes), np.bool_)
    edge = Edge(int(large.sizes.sum() * 0.9), everything)
    found = plan.make(large, worth, np.ones(len(large.sizes)), edge)
    assert len(found.keep) + len(found.evict) == len(large.sizes)
    assert max(line.score for line in found.evict) <= min(line.score for line in found.keep)


@pytest.mark.parametrize(("seconds", "text"), [(8, "8 s"), (600, "10 min"), (7200, "2.0 h")])
def test_durations_are_written_as_people_say_them(seconds: float, text: str) -> None:
    assert plan.duration(seconds) == text
