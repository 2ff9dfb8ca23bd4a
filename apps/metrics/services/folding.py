"""Fold ten-second buckets into one row per minute; folding again writes the same rows."""

from __future__ import annotations

import time
from collections import defaultdict
from datetime import UTC, datetime

from django.db.models import Max

from apps.access.models import Workspace
from apps.metrics.models import Tally
from apps.metrics.services import buckets
from apps.metrics.services.buckets import Key, Sum
from apps.metrics.services.counting import EDGES_MS, KEEP_S

AGAIN_S = 180  # late counts of the last minutes are folded in as well


def fold(now: float | None = None) -> int:
    """Write the rows of every complete minute since the last fold; returns how many rows were written."""
    now = time.time() if now is None else now
    last = Tally.objects.aggregate(last=Max("minute"))["last"]
    since = max(now - KEEP_S, (last.timestamp() if last else 0) - AGAIN_S)
    minutes: dict[int, dict[Key, Sum]] = defaultdict(dict)
    until = int(now // 60) * 60
    for start, sums in buckets.read(buckets.starts_between(since // 60 * 60, until - 1)).items():
        for key, part in sums.items():
            minutes[start // 60 * 60].setdefault(key, Sum()).add(part)
    known = {str(pk) for pk in Workspace.objects.values_list("pk", flat=True)}
    rows = [
        _row(minute, key, part) for minute, sums in minutes.items() for key, part in sums.items() if key[0] in known
    ]
    _write(rows)
    return len(rows)


def _row(minute: int, key: Key, part: Sum) -> Tally:
    workspace, cache, subject = key
    latency = [part.latency.get(place, 0) for place in range(len(EDGES_MS) + 1)] if part.latency else []
    at = datetime.fromtimestamp(minute, UTC)
    return Tally(
        workspace_id=workspace, cache=cache, subject=subject, minute=at, counts=dict(part.counts), latency=latency
    )


def _write(rows: list[Tally]) -> None:
    """Write rows whole; a row never shrinks, so that a Valkey that lost its counts takes nothing back."""
    old = {
        (str(row.workspace_id), row.cache, row.subject, row.minute): row
        for row in Tally.objects.filter(minute__in={row.minute for row in rows})
    }
    kept = []
    for row in rows:
        before = old.get((str(row.workspace_id), row.cache, row.subject, row.minute))
        if before is None or sum(before.counts.values()) <= sum(row.counts.values()):
            kept.append(row)
    Tally.objects.bulk_create(
        kept,
        update_conflicts=True,
        unique_fields=["workspace", "cache", "subject", "minute"],
        update_fields=["counts", "latency"],
    )
