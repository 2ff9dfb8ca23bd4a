from __future__ import annotations

from collections import OrderedDict
from collections.abc import Callable

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from apps.segments.core import simulator
from apps.segments.core.catalogue import Ints
from apps.segments.core.simulator import Trace, belady, lru, s3fifo, tinylfu

ROWS = 12
Streams = st.lists(st.integers(0, ROWS - 1), min_size=1, max_size=300)


def remembered(rows: list[int], sizes: Ints, capacity: int) -> list[bool]:
    """A least-recently-used cache as one would write it on a napkin."""
    inside: OrderedDict[int, int] = OrderedDict()
    hits = []
    for row in rows:
        hits.append(row in inside)
        if row in inside:
            inside.move_to_end(row)
        elif sizes[row] <= capacity:
            while sum(inside.values()) + int(sizes[row]) > capacity:
                inside.popitem(last=False)
            inside[row] = int(sizes[row])
    return hits


@settings(max_examples=100, deadline=None)
@given(rows=Streams, sizes=st.lists(st.integers(1, 50), min_size=ROWS, max_size=ROWS), capacity=st.integers(1, 200))
def test_lru_is_the_one_of_the_textbook(rows: list[int], sizes: list[int], capacity: int) -> None:
    row, size = np.array(rows), np.array(sizes)
    found = lru.run(np.arange(len(row)) * 1.0, row, size, np.full(ROWS, -1), capacity, 0)[0]
    assert found.tolist() == remembered(rows, size, capacity)


@settings(max_examples=60, deadline=None)
@given(rows=Streams, capacity=st.integers(1, ROWS))
def test_nothing_hits_more_than_belady_when_all_sizes_are_equal(rows: list[int], capacity: int) -> None:
    row, sizes = np.array(rows), np.ones(ROWS, np.int64)
    after = np.full(len(row), len(row))
    for place in range(len(row)):
        later = np.flatnonzero(row[place + 1 :] == row[place])
        after[place] = place + 1 + later[0] if len(later) else len(row)
    best = belady.run(row, sizes, after, capacity).sum()
    for hits in (
        lru.run(np.arange(len(row)) * 1.0, row, sizes, np.full(ROWS, -1), capacity, 0)[0],
        s3fifo.run(row, sizes, capacity),
        tinylfu.run(row, sizes, capacity),
    ):
        assert hits.sum() <= best


@pytest.mark.parametrize("name", simulator.NAMES)
def test_where_everything_fits_each_segment_is_fetched_once(world: Callable[..., Trace], name: str) -> None:
    trace = world()
    room = 4 * int(trace.catalogue.sizes.sum()) if name == "wtinylfu" else 2 * int(trace.catalogue.sizes.sum())
    known = simulator.learn(trace, simulator.middle(trace))
    outcome = simulator.run(name, trace, room, known)
    fetched = np.concatenate([trace.row[~outcome.hit], outcome.prewarm_row])
    assert len(set(fetched.tolist())) == len(fetched)
    assert set(fetched.tolist()) >= set(trace.row.tolist())


@pytest.mark.parametrize("name", simulator.NAMES[:-1])
def test_a_segment_larger_than_the_cache_passes_by(world: Callable[..., Trace], name: str) -> None:
    trace = world(sizes=100)
    known = simulator.learn(trace, simulator.middle(trace))
    outcome = simulator.run(name, trace, 99, known)
    assert name == "infinite" or not outcome.hit.any()
    assert len(outcome.prewarm_row) == 0


def test_next_five_turns_misses_into_prewarmed_bytes_and_saves_none(world: Callable[..., Trace]) -> None:
    trace = world()
    room = trace.footprint // 10
    known = simulator.learn(trace, simulator.middle(trace))
    plain, ahead = (simulator.score(trace, simulator.run(name, trace, room, known)) for name in ("lru", "lru_next5"))
    assert ahead.request_hit > plain.request_hit + 0.3
    assert ahead.origin_bytes >= plain.origin_bytes


def test_the_next_use_of_a_request_is_found(world: Callable[..., Trace]) -> None:
    trace = world(sessions=20)
    for place, use in enumerate(trace.next_use.tolist()):
        later = np.flatnonzero(trace.row[place + 1 :] == trace.row[place])
        assert use == (place + 1 + later[0] if len(later) else len(trace))
