from __future__ import annotations

from collections.abc import Callable

import numpy as np
import pytest

from apps.segments.core import simulator
from apps.segments.core.simulator import FAST, SLOW, Outcome, Trace, startup
from apps.segments.core.simulator.outcome import plain
from apps.segments.core.simulator.score import daily_peak


def test_prewarmed_bytes_count_as_sent_by_the_origin(world: Callable[..., Trace]) -> None:
    trace = world(sizes=100)
    late = float(trace.at[-1]) - 1
    rows = np.array([3, 4, 5, 6])
    used = np.array([True, True, True, False])
    outcome = Outcome(np.ones(len(trace), np.bool_), np.full(len(trace), 60.0), np.full(4, late), rows, used)
    found = simulator.score(trace, outcome)
    asked = 100 * int(simulator.measured(trace).sum())
    assert (found.request_hit, found.demand_bytes, found.prewarm_bytes) == (1.0, 0, 400)
    assert found.byte_hit == pytest.approx(1 - 400 / asked)
    assert found.waste_share == 0.25


def test_what_happened_before_the_middle_does_not_count(world: Callable[..., Trace]) -> None:
    trace = world()
    late = simulator.measured(trace)
    found = simulator.score(trace, plain(late))
    assert (found.byte_hit, found.request_hit, found.origin_bytes) == (1.0, 1.0, 0)


def test_a_miss_waits_for_the_origin_and_a_hit_for_the_last_mile(world: Callable[..., Trace]) -> None:
    trace = world(sizes=600_000)
    everyone = np.ones(len(trace), np.bool_)
    missed, _ = startup.waits(trace, plain(~everyone), SLOW, everyone)
    hit, there = startup.waits(trace, plain(everyone), SLOW, everyone)
    assert missed == pytest.approx(0.06 + 0.8 + 4.8e6 / 2e6)
    assert hit == pytest.approx(0.06 + 4.8e6 / 20e6)
    assert there.all()
    assert startup.waits(trace, plain(~everyone), FAST, everyone)[0] == pytest.approx(0.06 + 0.3 + 4.8e6 / 8e6)


def test_a_prewarm_that_is_on_its_way_is_waited_for(world: Callable[..., Trace]) -> None:
    trace = world(sizes=600_000)
    everyone = np.ones(len(trace), np.bool_)
    none = np.zeros(0)
    on_its_way = Outcome(everyone, np.full(len(trace), 1.0), none, none.astype(np.int64), none.astype(np.bool_))
    took, there = startup.waits(trace, on_its_way, SLOW, everyone)
    assert took == pytest.approx(0.06 + 0.8 + 2.4 - 1.0)
    assert not there.any()
    assert simulator.starts(trace, on_its_way, SLOW)[0] == 0.0


def test_the_daily_peak_is_each_days_busiest_quarter_averaged() -> None:
    at = np.array([10.0, 20.0, 1000.0, 86400 + 5.0])
    sent = np.array([900.0, 900.0, 100.0, 3600.0])
    assert daily_peak(at, sent) == pytest.approx((1800 + 3600) / 2 * 8 / 900)
    assert daily_peak(np.zeros(0), np.zeros(0)) == 0.0
