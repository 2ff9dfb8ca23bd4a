"""Read what the caches did over time: a series of counts, shares and latencies for plots."""

from __future__ import annotations

import time
from collections import Counter, defaultdict
from collections.abc import Iterable
from datetime import UTC, datetime, timedelta
from typing import Any
from uuid import UUID

from django.db.models import Q, QuerySet

from apps.metrics.models import Tally
from apps.metrics.services import buckets
from apps.metrics.services.buckets import Sum
from apps.metrics.services.counting import BUCKET_S, KEEP_S

CACHES = ("answers", "inference", "segments")
MOST_POINTS = 1_500
FINE_S = 3_600  # windows up to an hour may have steps finer than a minute
HITS = {
    "answers": ("static_hit", "dynamic_hit"),
    "inference": ("reused", "partial", "stored"),
    "segments": ("hit", "prewarm", "pinned_hit"),
}
OUTCOMES = {
    "answers": ("static_hit", "dynamic_hit", "miss", "bypass"),
    "inference": ("reused", "partial", "dense", "stored"),
    "segments": ("hit", "pinned_hit", "prewarm", "miss"),
}
Part = tuple[int, Sum]


def series(workspace_id: UUID, cache: str, window_s: int, step_s: int, subject: str = "") -> list[dict[str, Any]]:
    """Give counts per outcome and latency quantiles per step, oldest first; empty steps are there too."""
    now = time.time()
    first = int((now - window_s) // step_s + 1) * step_s
    sums = {start: Sum() for start in range(first, int(now) + 1, step_s)}
    about = {"workspace_id": workspace_id, "cache": cache, **({"subject": subject} if subject else {})}
    rows, until = _rows(about, -(-first // 60) * 60, step_s)
    live_since = first if step_s < 60 else max(first, until, int(now - KEEP_S + 60))
    for at, part in _whole(rows, _live(workspace_id, cache, subject, live_since, now), step_s):
        place = at // step_s * step_s
        if place in sums:
            sums[place].add(part)
    return [_point(start, cache, part) for start, part in sums.items()]


def subjects(workspace_id: UUID, cache: str) -> list[str]:
    """List the subjects that a cache served in the last week, by name."""
    rows = Tally.objects.filter(workspace_id=workspace_id, cache=cache)
    hours = Q(span_s=Tally.HOUR, minute__gte=datetime.now(UTC) - timedelta(days=7))
    minutes = Q(span_s=Tally.MINUTE, minute__gte=datetime.now(UTC) - timedelta(hours=2))
    return sorted(rows.filter(hours | minutes).values_list("subject", flat=True).distinct())


def requests(cache: str, counts: Counter[str]) -> int:
    """Count the requests among everything counted."""
    return sum(counts[name] for name in OUTCOMES[cache])


def shares(cache: str, counts: Counter[str]) -> dict[str, float | None]:
    """Give the share of requests that hit, and of those served a golden answer; None without requests."""
    whole = requests(cache, counts)
    hits = sum(counts[name] for name in HITS[cache])
    return {
        "hit_share": round(hits / whole, 4) if whole else None,
        "golden_share": round(counts["origin:golden"] / whole, 4) if whole else None,
    }


def _point(start: int, cache: str, part: Sum) -> dict[str, Any]:
    return {
        "at": datetime.fromtimestamp(start, UTC).isoformat(),
        "requests": requests(cache, part.counts),
        "counts": dict(sorted(part.counts.items())),
        **shares(cache, part.counts),
        **part.quantiles(),
    }


def _whole(rows: list[Part], live: list[Part], step_s: int) -> Iterable[Part]:
    """Take each minute once: from its buckets, or from its row when that knows more (Valkey was emptied)."""
    in_rows, in_buckets = _per_minute(rows), _per_minute(live)
    from_rows = {minute for minute, number in in_rows.items() if number > in_buckets[minute]}
    for at, part in rows:
        if at in from_rows:
            yield from _spread(at, part) if step_s < 60 else [(at, part)]
    yield from (part for part in live if part[0] // 60 * 60 not in from_rows)


def _spread(minute: int, whole: Sum) -> Iterable[Part]:
    """Spread a minute evenly over its buckets, so that fine steps show no peak that never was."""
    pieces = 60 // BUCKET_S

    def piece(counter: Counter[Any], number: int) -> Counter[Any]:
        return Counter({name: n * (number + 1) // pieces - n * number // pieces for name, n in counter.items()})

    for number in range(pieces):
        yield minute + number * BUCKET_S, Sum(piece(whole.counts, number), piece(whole.latency, number))


def _per_minute(parts: list[Part]) -> Counter[int]:
    found: Counter[int] = Counter()
    for at, part in parts:
        found[at // 60 * 60] += part.counts.total()
    return found


def _live(workspace_id: UUID, cache: str, subject: str, since: int, now: float) -> list[Part]:
    found = buckets.read(buckets.starts_between(since, now))
    return [(start, buckets.total([sums], workspace_id, cache, subject)) for start, sums in found.items()]


def _rows(about: dict[str, Any], since: int, step_s: int) -> tuple[list[Part], int]:
    """Read rows from a whole minute on, hours where the steps allow; also says from when on buckets may know more."""
    rows = Tally.objects.filter(**about)
    hours = _read(rows.filter(span_s=Tally.HOUR), since) if step_s % Tally.HOUR == 0 else {}
    after = max(hours) + Tally.HOUR if hours else since
    minutes = _read(rows.filter(span_s=Tally.MINUTE), after)
    return [*hours.items(), *minutes.items()], max(minutes, default=after)


def _read(rows: QuerySet[Tally], since: int) -> dict[int, Sum]:
    """Sum rows over subjects: start (Unix time) -> what was done."""
    sums: dict[int, Sum] = defaultdict(Sum)
    rows = rows.filter(minute__gte=datetime.fromtimestamp(since, UTC))
    for minute, counts, latency in rows.values_list("minute", "counts", "latency").iterator(2_000):
        part = sums[int(minute.timestamp())]
        part.counts.update(counts)
        part.latency.update({place: number for place, number in enumerate(latency) if number})
    return sums
