"""Say how things stand right now: the snapshot that browsers get every second."""

from __future__ import annotations

import json
import logging
import time
from collections import defaultdict
from collections.abc import Callable, Sequence
from datetime import UTC, datetime
from typing import Any, NamedTuple
from uuid import UUID

from django.utils.text import get_text_list
from django.utils.translation import gettext as _

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
LETTERS = {"title": 120, "detail": 240, "link": 200, "runbook": 80}
RUNBOOKS = "/runbooks/#"
ASK_AGAIN_S = 3.0  # gauges and alarms ask the database; they are not asked every second
Gauge = Callable[[UUID], dict[str, Any]]
Alarms = Callable[[UUID], list[dict[str, Any]]]
Pair = tuple[Sum, Sum]
Bucket = dict[Key, Sum]


class Asked(NamedTuple):
    """What gauges and alarms said; `whole` unless some alarms could not be read."""

    gauges: dict[str, dict[str, Any]]
    alarms: list[dict[str, Any]]
    whole: bool


_gauges: dict[str, Gauge] = {}
_alarms: list[Alarms] = []
_asked: dict[UUID, tuple[float, Asked]] = {}
_settled: dict[str, tuple[list[int], Bucket]] = {}


def register(cache: str, gauge: Gauge, alarms: Alarms) -> None:
    """Let a cache add what only it can tell (the depth of its queue, say) and its alarms to every snapshot."""
    _gauges[cache] = gauge
    if alarms not in _alarms:
        _alarms.append(alarms)


def alarms(workspace_id: UUID) -> list[dict[str, Any]]:
    """Give the first alarms of a workspace, at most three seconds old."""
    return _ask(workspace_id).alarms[:MOST_ALARMS]


def one_of_many(title: str, link: str, steps: str, failed: Sequence[tuple[str, str]], count: int) -> dict[str, Any]:
    """Make one alarm of many failures, so that it lasts as long as any does.

    Args:
        title: what failed.
        link: the page that lists them.
        steps: the name of the runbook.
        failed: the newest, name and error.
        count: how many there are in all.
    """
    told = [f"{name}: {error}" if error else name for name, error in failed]
    more = [_("and %(count)d more") % {"count": count - len(told)}] if count > len(told) else []
    return {"title": title, "detail": "; ".join([*told, *more]), "link": link, "runbook": runbook(steps)}


def every_alarm(workspace_id: UUID) -> tuple[list[dict[str, Any]], bool]:
    """Give all alarms of a workspace, and whether all could be read."""
    asked = _ask(workspace_id)
    return asked.alarms, asked.whole


def forget() -> None:
    """Forget what gauges, alarms and settled buckets said a moment ago."""
    _asked.clear()
    _settled.clear()


def snapshot(workspace_id: UUID) -> dict[str, Any]:
    """Give the state of the three caches over the last five minutes, and the alarms; at most 8 KB as JSON."""
    now = time.time()
    recent = buckets.read(buckets.starts_between(now - LIVE_S, now))
    mine = _mine(recent, str(workspace_id), now)
    gauges, alarms, _whole = _ask(workspace_id)
    caches = {cache: {**_cache(cache, mine[cache], now), **gauges.get(cache, {})} for cache in CACHES}
    at = datetime.fromtimestamp(now, UTC).isoformat(timespec="milliseconds")
    return _fitted({"at": at, **caches, "alarms": alarms[:MOST_ALARMS]})


def _mine(recent: dict[int, Bucket], workspace: str, now: float) -> dict[str, dict[str, Pair]]:
    """Sum a workspace's buckets: cache -> subject -> (whole window, newest buckets)."""
    newest = int(now // BUCKET_S - 1) * BUCKET_S
    settled = [start for start in recent if start < now - buckets.SETTLED_S - BUCKET_S]
    found: dict[str, dict[str, Pair]] = {cache: {} for cache in CACHES}
    older = _older(recent, settled, workspace)
    for start, sums in [(0, older), *((start, recent[start]) for start in recent if start not in settled)]:
        for (whose, cache, subject), part in sums.items():
            if whose == workspace and cache in found:
                window, last = found[cache].setdefault(subject, (Sum(), Sum()))
                window.add(part)
                if start >= newest:
                    last.add(part)
    return found


def _older(recent: dict[int, Bucket], settled: list[int], workspace: str) -> Bucket:
    """Sum the settled buckets of a workspace; the sum holds for ten seconds, while ten snapshots ask for it."""
    known = _settled.get(workspace)
    if known and known[0] == settled:
        return known[1]
    sums: Bucket = defaultdict(Sum)
    for start in settled:
        for key, part in recent[start].items():
            if key[0] == workspace:
                sums[key].add(part)
    _settled[workspace] = (settled, sums)
    return sums


def _cache(cache: str, subjects: dict[str, Pair], now: float) -> dict[str, Any]:
    window, last = Sum(), Sum()
    for one, newest in subjects.values():
        window.add(one)
        last.add(newest)
    busiest = sorted(subjects.items(), key=lambda item: -reading.requests(cache, item[1][0].counts))
    rest = [(name, n) for name, n in window.counts.most_common() if name not in OUTCOMES[cache]][:MOST_COUNTS]
    return {
        "window_s": LIVE_S,
        **_summary(cache, (window, last), now),
        "counts": dict(sorted(rest)),
        "subjects": {name: _summary(cache, parts, now) for name, parts in busiest[:MOST_SUBJECTS]},
    }


def _summary(cache: str, parts: Pair, now: float) -> dict[str, Any]:
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
    at, known = _asked.get(workspace_id, (0.0, Asked({}, [], whole=True)))
    if at and time.monotonic() - at < ASK_AGAIN_S:
        return known
    gauges, alarms = dict[str, dict[str, Any]](), _silence()
    log_says, whole = _("The log of the site says why."), True
    for cache, gauge in _gauges.items():
        try:
            gauges[cache] = gauge(workspace_id)
        except Exception:  # the counts must be shown all the same
            log.exception("the gauge of %s is broken", cache)
            alarms.append({"title": _("The gauge of %(cache)s cannot be read") % {"cache": cache}, "detail": log_says})
    for more in _alarms:
        try:
            alarms += more(workspace_id)
        except Exception:
            log.exception("alarms are broken")
            whole = False
            alarms.append({"title": _("Some alarms cannot be read"), "detail": log_says})
    short = [{name: str(alarm.get(name, ""))[:most] for name, most in LETTERS.items()} for alarm in alarms]
    _asked[workspace_id] = (time.monotonic(), Asked(gauges, short, whole))
    return _asked[workspace_id][1]


def _silence() -> list[dict[str, Any]]:
    silent = health.silent_workers((*health.WORKERS, *health.HEAVY))
    if not silent:
        return []
    detail = _("Serving goes on. What this worker does waits until it is back.")
    title = _("No sign of life from %(workers)s") % {"workers": get_text_list(silent, _("and"))}
    return [{"title": title, "detail": detail, "link": "/readyz", "runbook": runbook("worker")}]


def runbook(name: str) -> str:
    """Give the address of what to do about an alarm."""
    return f"{RUNBOOKS}{name}"


def _fitted(snapshot: dict[str, Any]) -> dict[str, Any]:
    """Leave out the least busy subjects, then alarms, until the snapshot is small enough."""
    over = _bytes(snapshot) - LARGEST_BYTES
    while over > 0:
        fullest = max((snapshot[cache]["subjects"] for cache in CACHES), key=len)
        if fullest:
            over -= _bytes(dict([fullest.popitem()]))
        elif snapshot["alarms"]:
            over -= _bytes(snapshot["alarms"].pop())
        else:
            break
    return snapshot


def _bytes(part: Any) -> int:
    return len(json.dumps(part, separators=(",", ":")))  # ASCII: as many bytes as letters
