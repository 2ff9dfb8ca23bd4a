"""How hard people use the caches at this moment, so that work off the path can give way."""

from __future__ import annotations

import time

import redis

from apps.metrics.services import buckets
from apps.metrics.services.counting import BUCKET_S

REMEMBER_S = 1.0
BUSY_PER_S = 2.0
SHARE = 0.1  # of a core's time, while people wait for answers
LONGEST_S = 0.5
_known: list[float] = [0.0, 0.0]  # when it was read (monotonic), requests a second


def requests_per_s() -> float:
    """Give the requests a second of all caches and workspaces over the last ten seconds or so; 0 without Valkey."""
    if time.monotonic() - _known[0] > REMEMBER_S:
        _known[:] = [time.monotonic(), _read()]
    return _known[1]


def _read() -> float:
    now = time.time()
    try:
        found = buckets.read(buckets.starts_between(now - BUCKET_S, now))
    except redis.RedisError:
        return 0.0
    seen = sum(part.latency.total() for sums in found.values() for part in sums.values())
    return seen / (BUCKET_S + now % BUCKET_S)


def rest_s(spent_s: float) -> float:
    """Say how long a worker should rest after so much CPU time (s): not at all while nobody waits for answers."""
    return min(LONGEST_S, spent_s * (1 / SHARE - 1)) if requests_per_s() >= BUSY_PER_S else 0.0
