"""Say how things stand right now: the snapshot that browsers get every second."""

from __future__ import annotations

import json
import logging
import time
from collections.abc import Callable
from datetime import UTC, datetime
from typing import Any
from uuid import UUID

from apps.metrics.services import buckets, health, reading
from apps.metrics.services.buckets import Key, Sum
from apps.metrics.services.counting import BUCKET_S
from apps.metrics.services.reading import CACHES, OUTCOMES

log = logging.getLogger(__name__)
LIVE_S = 300
LARGEST_BYTES = 8_000
MOST_SUBJECTS = 20
MOST_ALARMS = 8
MOST_COUNTS = 40
LETTERS = {"title": 120, "detail": 240, "link": 200}
ASK_AGAIN_S = 3.0  # gauges and alarms ask the database; they are not asked every second
Gauge = Callable[[UUID], dict[str, Any]]
Alarms = Callable[[UUID], list[dict[str, Any]]]
Asked = tuple[dict[str, dict[str, Any]], list[dict[str, Any]]]
_gauges: dict[str, Gauge] = {}
_alarms: list[Alarms] = []
_asked: dict[UUID, tuple[float, Asked]] = {}


def register(cache: str, gauge: Gauge, alarms: Alarms) -> None:
    """Let a cache add what only it can tell (the depth of its queue, say) and its alarms to every snapshot."""
    _gauges[cache] = gauge
    if alarms not in _alarms:
        _alarms.append(alarms)


def forget() -> None:
    """Forget what gauges and alarms said a moment ago."""
    _asked.clear()


def snapshot(workspace_id: UUID) -> dict[str, Any]:
    """Give the state of the three caches over the last five minutes, and the alarms; at most 8 KB as JSON."""
    now = time.time()
    recent = buckets.read(buckets.starts_between(now - LIVE_S, now))
    mine = _mine(recent, str(workspace_id))
    gauges, alarms = _ask(workspace_id)
    caches = {cache: {**_cache(cache, mine, now), **gauges.get(cache, {})} for cache in CACHES}
    at = datetime.fromtimestamp(now, UTC).isoformat(timespec="milliseconds")
    return _fitted({"at": at, **caches, "alarms": alarms})


def _mine(recent: dict[int, dict[Key, Sum]], workspace: str) -> list[tuple[int, str, str, Sum]]:
    return [
        (start, cache, subject, part)
        for start, sums in recent.items()
        for (whose, cache, subject), part in sums.items()
        if whose == workspace
    ]


def _cache(cache: str, mine: list[tuple[int, str, str, Sum]], now: float) -> dict[str, Any]:
    whole, subjects = (Sum(), Sum()), dict[str, tuple[Sum, Sum]]()
    newest = int(now // BUCKET_S - 1) * BUCKET_S
    for start, which, subject, part in mine:
        if which == cache:
            for window, last in (whole, subjects.setdefault(subject, (Sum(), Sum()))):
                window.add(part)
                if start >= newest:
                    last.add(part)
    busiest = sorted(subjects.items(), key=lambda item: -reading.requests(cache, item[1][0].counts))
    outcomes = OUTCOMES[cache]
    rest = [(name, n) for name, n in whole[0].counts.most_common() if name not in outcomes][:MOST_COUNTS]
    return {
        "window_s": LIVE_S,
        **_summary(cache, whole, now),
        "counts": dict(sorted(rest)),
        "subjects": {name: _summary(cache, parts, now) for name, parts in busiest[:MOST_SUBJECTS]},
    }


def _summary(cache: str, parts: tuple[Sum, Sum], now: float) -> dict[str, Any]:
    window, last = parts
    return {
        "requests": reading.requests(cache, window.counts),
        "per_s": round(reading.requests(cache, last.counts) / (BUCKET_S + now % BUCKET_S), 2),
        "outcomes": {name: window.counts[name] for name in OUTCOMES[cache]},
        **reading.shares(cache, window.counts),
        "latency_ms": window.quantiles(),
    }


def _ask(workspace_id: UUID) -> Asked:
    """Ask gauges and alarms, a few seconds apart; one that breaks becomes an alarm itself."""
    at, known = _asked.get(workspace_id, (0.0, ({}, [])))
    if at and time.monotonic() - at < ASK_AGAIN_S:
        return known
    gauges, alarms = dict[str, dict[str, Any]](), _silence()
    for cache, gauge in _gauges.items():
        try:
            gauges[cache] = gauge(workspace_id)
        except Exception:  # the counts must be shown all the same
            log.exception("the gauge of %s is broken", cache)
            alarms.append({"title": f"The gauge of {cache} cannot be read", "detail": "The log of the site says why."})
    for more in _alarms:
        try:
            alarms += more(workspace_id)
        except Exception:
            log.exception("alarms are broken")
            alarms.append({"title": "Some alarms cannot be read", "detail": "The log of the site says why."})
    short = [{name: str(alarm.get(name, ""))[:most] for name, most in LETTERS.items()} for alarm in alarms]
    _asked[workspace_id] = (time.monotonic(), (gauges, short[:MOST_ALARMS]))
    return _asked[workspace_id][1]


def _silence() -> list[dict[str, Any]]:
    silent = health.silent_workers()
    if not silent:
        return []
    detail = "Serving goes on. Verifications, folding and clean-up wait until the worker is back."
    return [{"title": f"No sign of life from {' and '.join(silent)}", "detail": detail, "link": "/readyz"}]


def _fitted(snapshot: dict[str, Any]) -> dict[str, Any]:
    """Leave out the least busy subjects, then alarms, until the snapshot is small enough."""
    size = _bytes(snapshot)
    while size > LARGEST_BYTES:
        fullest = max((snapshot[cache]["subjects"] for cache in CACHES), key=len)
        if fullest:
            fullest.popitem()
        elif snapshot["alarms"]:
            snapshot["alarms"] = snapshot["alarms"][:-1]
        else:
            break
        size = _bytes(snapshot)
    return snapshot


def _bytes(snapshot: dict[str, Any]) -> int:
    return len(json.dumps(snapshot, separators=(",", ":")).encode())
