"""Read the ten-second buckets in Valkey, and sum them by workspace, cache and subject."""

from __future__ import annotations

import math
import time
from collections import Counter, defaultdict
from collections.abc import Iterable
from dataclasses import dataclass, field
from typing import Any
from uuid import UUID

from apps.access import services as access
from apps.metrics.services.counting import BUCKET_S, EDGES_MS, bucket_key

SETTLED_S = 30  # a bucket this old takes no more counts, except after an outage: the fold reads those again
REMEMBER = 400
BIN = EDGES_MS[1] / EDGES_MS[0]  # each upper edge over the one before
Key = tuple[str, str, str]


@dataclass(slots=True)
class Sum:
    """What was counted, and a histogram of latencies (bin -> number)."""

    counts: Counter[str] = field(default_factory=Counter)
    latency: Counter[int] = field(default_factory=Counter)

    def add(self, other: Sum) -> None:
        """Add another sum to this one; spelt out, for Counter.update takes twice as long on small ones."""
        for name, number in other.counts.items():
            self.counts[name] = self.counts.get(name, 0) + number
        for place, number in other.latency.items():
            self.latency[place] = self.latency.get(place, 0) + number

    def quantiles(self) -> dict[str, float | None]:
        """Give p50, p95 and p99 in ms, within a bin of the truth; None when nothing was measured."""
        return {name: quantile(self.latency, share) for name, share in (("p50", 0.5), ("p95", 0.95), ("p99", 0.99))}


def quantile(latency: Counter[int], share: float) -> float | None:
    """Give the latency in ms that a share of all requests did not pass, interpolated on a log scale in its bin."""
    wanted = share * sum(latency.values())
    seen = 0
    for place in sorted(latency):
        seen += latency[place]
        if latency[place] and seen >= wanted:
            upper = EDGES_MS[min(place, len(EDGES_MS) - 1)]
            return round(upper * math.pow(BIN, (wanted - seen) / latency[place]), 3)
    return None


_remembered: dict[int, dict[Key, Sum]] = {}


def forget() -> None:
    """Forget the settled buckets that this process remembers."""
    _remembered.clear()


def read(starts: Iterable[int]) -> dict[int, dict[Key, Sum]]:
    """Read buckets by their Unix start time, oldest first; settled ones are remembered by this process."""
    wanted = sorted(starts)
    known = {start: _remembered[start] for start in wanted if start in _remembered}
    missing = [start for start in wanted if start not in known]
    fresh = dict(zip(missing, fetch(missing), strict=True))
    settled_before = time.time() - SETTLED_S - BUCKET_S
    _remember({start: sums for start, sums in fresh.items() if start < settled_before})
    return {start: known[start] if start in known else fresh[start] for start in wanted}


def fetch(starts: list[int]) -> list[dict[Key, Sum]]:
    """Read buckets from Valkey in one round trip.

    Raises:
        redis.RedisError: Valkey does not answer.
    """
    pipe = access.valkey().pipeline(transaction=False)
    for start in starts:
        pipe.hgetall(bucket_key(start))
    return [_parse(fields) for fields in pipe.execute()] if starts else []


def starts_between(since: float, until: float) -> range:
    """List the starts of the buckets that lie between two Unix times."""
    return range(int(since // BUCKET_S) * BUCKET_S, int(until // BUCKET_S) * BUCKET_S + 1, BUCKET_S)


def total(buckets: Iterable[dict[Key, Sum]], workspace_id: UUID, cache: str, subject: str = "") -> Sum:
    """Sum what one workspace's cache did, for one subject or all."""
    result = Sum()
    for bucket in buckets:
        for (workspace, which, about), part in bucket.items():
            if workspace == str(workspace_id) and which == cache and (not subject or about == subject):
                result.add(part)
    return result


def _remember(settled: dict[int, dict[Key, Sum]]) -> None:
    _remembered.update(settled)
    if len(_remembered) > REMEMBER:
        for start in sorted(_remembered)[:-REMEMBER]:
            _remembered.pop(start, None)


def _parse(fields: dict[Any, Any]) -> dict[Key, Sum]:
    sums: dict[Key, Sum] = defaultdict(Sum)
    for name, number in fields.items():
        workspace, cache, rest = name.decode().split("|", 2)
        subject, _, what = rest.rpartition("|")
        part = sums[workspace, cache, subject]
        if what.startswith("ms:"):
            part.latency[int(what[3:])] += int(number)
        else:
            part.counts[what] += int(number)
    return dict(sums)
