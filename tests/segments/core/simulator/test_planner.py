from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace

import numpy as np
import pytest

from apps.segments.core import simulator, value
from apps.segments.core.simulator import Settings, Trace, planner
from apps.segments.core.simulator.planner import policy, state, viewers, worth

KEEP = Settings(pin_share=0.0, ahead=2.0, intent=False)


def test_the_simulated_worth_is_the_value_that_the_product_computes(world: Callable[..., Trace]) -> None:
    trace = world()
    known = simulator.learn(trace, simulator.middle(trace))
    straight = np.tile(np.eye(2), (len(known.mixing), 1, 1))
    known = replace(known, mixing=straight, use=known.survival, chain=known.chain * 0, returning=known.returning * 0)
    laid, now = state.world_of(trace, known), state.empty(trace, 1000)
    for session, place in ((0, 4), (1, 9), (2, 9), (3, 20)):
        viewers.heard(laid, now, session, trace.catalogue.row(2, place, session % 2), 100.0)
    viewers.survey(laid, now, KEEP, 103.0)
    rate = now.arriving[trace.catalogue.place[2]] / known.survival[trace.catalogue.place[2]]
    starts = np.zeros((6, 2))
    starts[2] = rate * known.usual
    crowd = value.crowd([(2, session % 2, place, 3.0) for session, place in ((0, 4), (1, 9), (2, 9), (3, 20))])
    expected = value.next_access(trace.catalogue, crowd, value.Demand(known.survival, starts), float(now.number[0]))
    for row in np.flatnonzero(trace.catalogue.video == 2):
        assert worth.worth(laid, now, KEEP, row, 103.0) == pytest.approx(expected.value[row], abs=2e-3)


def test_the_policy_never_holds_more_than_the_edge_does(world: Callable[..., Trace]) -> None:
    trace = world()
    known = simulator.learn(trace, simulator.middle(trace))
    room = trace.footprint // 5
    laid, now = state.world_of(trace, known), state.empty(trace, room)
    policy._run(laid, now, Settings(), room)
    held = int(trace.catalogue.sizes[now.cached].sum())
    assert 0 < held <= room
    assert now.number[state.FREE] == room - held


def test_keeping_by_value_saves_more_than_lru_and_than_the_source_score(world: Callable[..., Trace]) -> None:
    trace = world(sessions=1500)
    known = simulator.learn(trace, simulator.middle(trace))
    saved = {
        name: simulator.score(trace, simulator.run(name, trace, trace.footprint // 10, known)).byte_hit
        for name in ("lru", "touchstone_keep", "worldcache_score", "belady")
    }
    assert saved["belady"] > saved["touchstone_keep"] > max(saved["lru"], saved["worldcache_score"])


def test_prewarming_answers_nearly_all_requests_with_little_waste(world: Callable[..., Trace]) -> None:
    trace = world(sessions=1500)
    known = simulator.learn(trace, simulator.middle(trace))
    room = trace.footprint // 10
    found = simulator.score(trace, planner.run(trace, known, room, Settings(ahead=0.9)))
    assert found.request_hit > 0.94
    assert 0 < found.waste_share < 0.1
    unlikely = simulator.score(trace, planner.run(trace, known, room, Settings(ahead=0.999, intent=False)))
    assert unlikely.prewarm_bytes < found.prewarm_bytes


def test_pins_keep_to_their_share(world: Callable[..., Trace]) -> None:
    trace = world()
    known = simulator.learn(trace, simulator.middle(trace))
    room = trace.footprint // 4
    laid, now = state.world_of(trace, known), state.empty(trace, room)
    policy._run(laid, now, Settings(pin_share=0.05), room)
    pinned = np.flatnonzero(now.pinned)
    assert 0 < trace.catalogue.sizes[pinned].sum() <= 0.05 * room
    assert set(trace.catalogue.index[pinned].tolist()) == {0}


def test_what_is_learned_are_shares_and_chances(world: Callable[..., Trace]) -> None:
    trace = world(sessions=800)
    known = simulator.learn(trace, simulator.middle(trace))
    assert np.all((known.survival > 0) & (known.survival <= 1))
    assert np.all((known.use > 0) & (known.use <= 1))
    assert known.mixing.sum(2) == pytest.approx(1.0)
    assert known.usual.sum() == pytest.approx(1.0)
    first = trace.catalogue.place[:-1]
    assert known.survival[first].tolist() == [1.0] * 6
    assert known.survival[first[0] + 10] == pytest.approx(0.97**10, abs=0.08)


def test_nothing_is_learned_from_what_comes_later(world: Callable[..., Trace]) -> None:
    trace = world()
    until = simulator.middle(trace)
    early = trace.at < until
    columns = {name: getattr(trace, name)[early] for name in ("at", "row", "session", "start")}
    whole, cut = simulator.learn(trace, until), simulator.learn(replace(trace, **columns), until)
    for name in ("survival", "use", "mixing", "usual", "returning", "chain"):
        assert np.array_equal(getattr(whole, name), getattr(cut, name)), name
