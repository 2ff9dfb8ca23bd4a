"""Every policy by its name, run over a trace."""

from __future__ import annotations

import time
from collections.abc import Callable
from typing import Any

import numpy as np

from apps.segments.core.simulator import belady, lru, planner, s3fifo, tinylfu
from apps.segments.core.simulator.knowledge import Knowledge, following
from apps.segments.core.simulator.outcome import Outcome, plain
from apps.segments.core.simulator.planner import Settings
from apps.segments.core.simulator.trace import Trace

KEEP = Settings(pin_share=0.0, ahead=2.0, intent=False)
PLANNED = {
    "touchstone": Settings(),
    "touchstone_keep": KEEP,  # keeps and admits by value, and never prewarms
    "worldcache_score": KEEP._replace(source=True),
}
PLAIN = ("lru", "s3fifo", "wtinylfu", "lru_next5", "belady", "infinite")
NAMES = (*PLAIN, *PLANNED)


def run(name: str, trace: Trace, capacity: int, known: Knowledge) -> Outcome:
    """Run a policy with a cache of `capacity` bytes; raises KeyError for a name that is not in NAMES."""
    if name in PLANNED:
        return planner.run(trace, known, capacity, PLANNED[name])
    if name in ("lru", "lru_next5"):
        return _lru(trace, capacity, 5 if name == "lru_next5" else 0)
    sizes = trace.catalogue.sizes
    running: dict[str, Callable[[], Any]] = {
        "s3fifo": lambda: s3fifo.run(trace.row, sizes, capacity),
        "wtinylfu": lambda: tinylfu.run(trace.row, sizes, capacity),
        "belady": lambda: belady.run(trace.row, sizes, trace.next_use, capacity),
        "infinite": lambda: _infinite(trace),
    }
    begun = time.process_time()
    return plain(running[name](), time.process_time() - begun)


def _lru(trace: Trace, capacity: int, ahead: int) -> Outcome:
    begun = time.process_time()
    sizes, after = trace.catalogue.sizes, following(trace.catalogue)
    hit, waited, at, row, used = lru.run(trace.at, trace.row, sizes, after, capacity, ahead)
    return Outcome(hit, waited, at, row, used, time.process_time() - begun)


def _infinite(trace: Trace) -> Any:
    hit = np.ones(len(trace), np.bool_)
    hit[np.unique(trace.row, return_index=True)[1]] = False
    return hit
