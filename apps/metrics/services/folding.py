"""Fold ten-second buckets into one row per minute, and minutes into hours; folding again writes the same rows."""

from __future__ import annotations

import time
from collections import Counter, defaultdict
from collections.abc import Iterable
from datetime import UTC, datetime, timedelta

from django.db import transaction
from django.db.models import Max
from django.db.models.functions import TruncHour

from apps.access.models import Workspace
from apps.metrics.models import Tally
from apps.metrics.services import buckets
from apps.metrics.services.buckets import Key, Sum
from apps.metrics.services.counting import EDGES_MS, KEEP_S

AGAIN_S = 900  # a process that could not reach Valkey for this long still gets its counts into the rows
SUBJECT = 120  # characters of a subject that a row keeps
Sums = dict[tuple[Key, datetime], Sum]


@transaction.atomic
def fold(now: float | None = None) -> int:
    """Write the rows of every complete minute and hour since the last fold; returns how many minutes were new or grew.

    Raises:
        redis.RedisError: Valkey does not answer; the next fold catches up.
    """
    now = time.time() if now is None else now
    last = Tally.objects.filter(span_s=Tally.MINUTE).aggregate(last=Max("minute"))["last"]
    since = max(now - KEEP_S, (last.timestamp() if last else 0) - AGAIN_S)
    starts = buckets.starts_between(since // 60 * 60, now // 60 * 60 - 1)
    changed = _write(_by_minute(zip(starts, buckets.fetch(list(starts)), strict=True)), Tally.MINUTE)
    for hour in _hours_due(changed, datetime.fromtimestamp(now // 3_600 * 3_600, UTC)):
        _write(_by_hour(hour), Tally.HOUR)
    return len(changed)


def _by_minute(found: Iterable[tuple[int, dict[Key, Sum]]]) -> Sums:
    known = {str(pk) for pk in Workspace.objects.values_list("pk", flat=True)}
    minutes: Sums = defaultdict(Sum)
    for start, sums in found:
        minute = datetime.fromtimestamp(start // 60 * 60, UTC)
        for (workspace, cache, subject), part in sums.items():
            if workspace in known:
                minutes[(workspace, cache, subject[:SUBJECT]), minute].add(part)
    return minutes


def _hours_due(changed: list[Tally], until: datetime) -> list[datetime]:
    """List the complete hours that have no rows yet or whose minutes changed, oldest first."""
    last = Tally.objects.filter(span_s=Tally.HOUR).aggregate(last=Max("minute"))["last"]
    rows = Tally.objects.filter(span_s=Tally.MINUTE, minute__lt=until)
    if last:
        rows = rows.filter(minute__gte=last + timedelta(hours=1))
    due = set(rows.annotate(hour=TruncHour("minute", tzinfo=UTC)).values_list("hour", flat=True).distinct())
    return sorted(due | {row.minute.replace(minute=0) for row in changed if row.minute < until})


def _by_hour(hour: datetime) -> Sums:
    sums: Sums = defaultdict(Sum)
    minutes = Tally.objects.filter(span_s=Tally.MINUTE, minute__gte=hour, minute__lt=hour + timedelta(hours=1))
    for row in minutes:
        latency = Counter({place: number for place, number in enumerate(row.latency) if number})
        sums[(str(row.workspace_id), row.cache, row.subject), hour].add(Sum(Counter(row.counts), latency))
    return sums


def _write(sums: Sums, span_s: int) -> list[Tally]:
    """Write the rows that are new or grew, and give them.

    A count never shrinks, so that a Valkey that was emptied takes nothing back: what is left is the larger of what a
    row holds and what the buckets hold.
    """
    rows = {
        ((str(row.workspace_id), row.cache, row.subject), row.minute): row
        for row in Tally.objects.filter(span_s=span_s, minute__in={minute for _, minute in sums})
    }
    merged = {place: _merged(place, part, rows.get(place), span_s) for place, part in sums.items()}
    changed = [row for place, row in merged.items() if row is not rows.get(place)]
    Tally.objects.bulk_create(
        changed,
        update_conflicts=True,
        unique_fields=["workspace", "cache", "subject", "span_s", "minute"],
        update_fields=["counts", "latency"],
    )
    return changed


def _merged(place: tuple[Key, datetime], part: Sum, before: Tally | None, span_s: int) -> Tally:
    """Give the row that a span should have: the very one before when it holds everything already."""
    (workspace, cache, subject), minute = place
    counts = dict(part.counts | Counter(before.counts if before else {}))  # the larger of each
    old = before.latency if before else []
    larger = part.latency | Counter(dict(enumerate(old)))
    latency = [larger[one] for one in range(len(EDGES_MS) + 1)] if larger else []
    if before and counts == before.counts and latency == old:
        return before
    return Tally(
        workspace_id=workspace,
        cache=cache,
        subject=subject,
        minute=minute,
        span_s=span_s,
        counts=counts,
        latency=latency,
    )
