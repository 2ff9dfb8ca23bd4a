"""Fold ten-second buckets into one row per minute; folding again writes the same rows."""

from __future__ import annotations

import time
from collections import Counter, defaultdict
from collections.abc import Iterable
from datetime import UTC, datetime

from django.db.models import Max

from apps.access.models import Workspace
from apps.metrics.models import Tally
from apps.metrics.services import buckets
from apps.metrics.services.buckets import Key, Sum
from apps.metrics.services.counting import EDGES_MS, KEEP_S

AGAIN_S = 900  # a process that could not reach Valkey for this long still gets its counts into the rows
SUBJECT = 120  # characters of a subject that a row keeps
Minutes = dict[tuple[Key, datetime], Sum]


def fold(now: float | None = None) -> int:
    """Write the rows of every complete minute since the last fold; returns how many rows were new or grew."""
    now = time.time() if now is None else now
    last = Tally.objects.aggregate(last=Max("minute"))["last"]
    since = max(now - KEEP_S, (last.timestamp() if last else 0) - AGAIN_S)
    starts = buckets.starts_between(since // 60 * 60, now // 60 * 60 - 1)
    return _write(_by_minute(zip(starts, buckets.fetch(list(starts)), strict=True)))


def _by_minute(found: Iterable[tuple[int, dict[Key, Sum]]]) -> Minutes:
    known = {str(pk) for pk in Workspace.objects.values_list("pk", flat=True)}
    minutes: Minutes = defaultdict(Sum)
    for start, sums in found:
        minute = datetime.fromtimestamp(start // 60 * 60, UTC)
        for (workspace, cache, subject), part in sums.items():
            if workspace in known:
                minutes[(workspace, cache, subject[:SUBJECT]), minute].add(part)
    return minutes


def _write(minutes: Minutes) -> int:
    """Write the rows that are new or grew.

    A count never shrinks, so that a Valkey that was emptied takes nothing back: what is left is the larger of what a
    row holds and what the buckets hold.
    """
    rows = {
        ((str(row.workspace_id), row.cache, row.subject), row.minute): row
        for row in Tally.objects.filter(minute__in={minute for _, minute in minutes})
    }
    changed = [
        row for place, part in minutes.items() if (row := _merged(place, part, rows.get(place))) is not rows.get(place)
    ]
    Tally.objects.bulk_create(
        changed,
        update_conflicts=True,
        unique_fields=["workspace", "cache", "subject", "minute"],
        update_fields=["counts", "latency"],
    )
    return len(changed)


def _merged(place: tuple[Key, datetime], part: Sum, before: Tally | None) -> Tally:
    """Give the row that a minute should have: the very one before when it holds everything already."""
    (workspace, cache, subject), minute = place
    counts = dict(part.counts | Counter(before.counts if before else {}))  # the larger of each
    old = before.latency if before else []
    larger = part.latency | Counter(dict(enumerate(old)))
    latency = [larger[one] for one in range(len(EDGES_MS) + 1)] if larger else []
    if before and counts == before.counts and latency == old:
        return before
    return Tally(workspace_id=workspace, cache=cache, subject=subject, minute=minute, counts=counts, latency=latency)
