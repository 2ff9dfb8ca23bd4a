"""Read what the caches did: series for plots, and the snapshot that browsers get every second."""

from __future__ import annotations

import time
from collections import Counter
from collections.abc import Callable
from datetime import UTC, datetime, timedelta
from typing import Any
from uuid import UUID

from apps.metrics.models import Tally
from apps.metrics.services import buckets
from apps.metrics.services.buckets import Key, Sum
from apps.metrics.services.counting import BUCKET_S, KEEP_S

CACHES = ("answers", "inference", "segments")
LIVE_S = 300
MOST_POINTS = 1_500
MOST_SUBJECTS = 20
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
Gauge = Callable[[UUID], dict[str, Any]]
Alarms = Callable[[UUID], list[dict[str, Any]]]
_gauges: dict[str, Gauge] = {}
_alarms: list[Alarms] = []


def register(cache: str, gauge: Gauge, alarms: Alarms) -> None:
    """Let a cache add what only it can tell (the depth of its queue, say) and its alarms to every snapshot."""
    _gauges[cache] = gauge
    if alarms not in _alarms:
        _alarms.append(alarms)


def series(workspace_id: UUID, cache: str, window_s: int, step_s: int, subject: str = "") -> list[dict[str, Any]]:
    """Give counts per outcome and latency quantiles per step, oldest first; empty steps are there too."""
    now = time.time()
    first = int((now - window_s) // step_s + 1) * step_s
    sums = {start: Sum() for start in range(first, int(now) + 1, step_s)}
    parts = _rows(workspace_id, cache, first) if window_s > KEEP_S - 60 else _live(first, now)
    for at, key, part in parts:
        workspace, which, about = key
        if workspace == str(workspace_id) and which == cache and (not subject or about == subject):
            place = at // step_s * step_s
            if place in sums:
                sums[place].add(part)
    return [_point(start, cache, part) for start, part in sums.items()]


def snapshot(workspace_id: UUID) -> dict[str, Any]:
    """Give the state of the three caches over the last five minutes, and the alarms."""
    now = time.time()
    recent = list(buckets.read(buckets.starts_between(now - LIVE_S, now)).values())
    return {
        "at": datetime.now(UTC).isoformat(timespec="milliseconds"),
        **{cache: _cache(recent, workspace_id, cache) for cache in CACHES},
        "alarms": [alarm for alarms in _alarms for alarm in alarms(workspace_id)],
    }


def _cache(recent: list[dict[Key, Sum]], workspace_id: UUID, cache: str) -> dict[str, Any]:
    whole = buckets.total(recent, workspace_id, cache)
    last = buckets.total(recent[-2:], workspace_id, cache)
    gauge = _gauges.get(cache)
    subjects = sorted({key[2] for bucket in recent for key in bucket if key[:2] == (str(workspace_id), cache)})
    return {
        "window_s": LIVE_S,
        **_summary(cache, whole),
        "per_s": round(_requests(cache, last.counts) / (BUCKET_S + time.time() % BUCKET_S), 2),
        "subjects": {
            name: _summary(cache, buckets.total(recent, workspace_id, cache, name), brief=True)
            for name in subjects[:MOST_SUBJECTS]
        },
        **(gauge(workspace_id) if gauge else {}),
    }


def _summary(cache: str, part: Sum, *, brief: bool = False) -> dict[str, Any]:
    requests = _requests(cache, part.counts)
    hits = sum(part.counts[name] for name in HITS[cache])
    outcomes = {name: part.counts[name] for name in OUTCOMES[cache]}
    summary = {
        "requests": requests,
        "outcomes": outcomes,
        "hit_share": round(hits / requests, 4) if requests else None,
        "golden_share": round(part.counts["origin:golden"] / requests, 4) if requests else None,
        "latency_ms": part.quantiles(),
    }
    if not brief:
        summary["counts"] = {name: n for name, n in sorted(part.counts.items()) if name not in outcomes}
    return summary


def _requests(cache: str, counts: Counter[str]) -> int:
    return sum(counts[name] for name in OUTCOMES[cache])


def _point(start: int, cache: str, part: Sum) -> dict[str, Any]:
    requests = _requests(cache, part.counts)
    return {
        "at": datetime.fromtimestamp(start, UTC).isoformat(),
        "requests": requests,
        "counts": dict(sorted(part.counts.items())),
        "hit_share": round(sum(part.counts[name] for name in HITS[cache]) / requests, 4) if requests else None,
        "golden_share": round(part.counts["origin:golden"] / requests, 4) if requests else None,
        **part.quantiles(),
    }


def _live(first: int, now: float) -> list[tuple[int, Key, Sum]]:
    found = buckets.read(buckets.starts_between(first, now))
    return [(start, key, part) for start, sums in found.items() for key, part in sums.items()]


def _rows(workspace_id: UUID, cache: str, first: int) -> list[tuple[int, Key, Sum]]:
    """Read minute rows, and the minutes not folded yet from Valkey."""
    since = datetime.fromtimestamp(first, UTC)
    rows = list(Tally.objects.filter(workspace_id=workspace_id, cache=cache, minute__gte=since))
    parts = [(int(row.minute.timestamp()), (str(workspace_id), cache, row.subject), _sum(row)) for row in rows]
    last = max((row.minute for row in rows), default=datetime.now(UTC) - timedelta(seconds=KEEP_S))
    return parts + _live(int(last.timestamp()) + 60, time.time())


def _sum(row: Tally) -> Sum:
    latency = Counter({place: number for place, number in enumerate(row.latency) if number})
    return Sum(Counter(row.counts), latency)
