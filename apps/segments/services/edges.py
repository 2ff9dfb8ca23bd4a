"""Edges: register them, take their reports, hand them plans, hear what came of those."""

from __future__ import annotations

from collections.abc import Mapping
from datetime import timedelta
from typing import Any
from uuid import UUID

from django.db import transaction
from django.db.models.functions import Now
from django.utils import timezone

from apps.access import services as access
from apps.access.core.callers import Caller
from apps.metrics import services as metrics
from apps.segments.core import control
from apps.segments.models import Edge, Held, Plan
from apps.segments.services import collapsing, tuning

CACHE = "segments"
OUTCOMES = ("hit", "miss", "prewarm", "pinned_hit")
MOST_HELD = 500_000
MOST_WINDOWS = 12
ALIVE = timedelta(minutes=1)
LARGEST = 2**53


def find(caller: Caller, pk: UUID | str) -> Edge:
    """Give an edge of the caller's workspace.

    Raises:
        Missing: there is none.
    """
    row = Edge.objects.filter(pk=pk, workspace_id=caller.workspace_id).first()
    if row is None:
        raise access.Missing("This workspace has no such edge.")
    return row


@transaction.atomic
def register(caller: Caller, name: str, **values: Any) -> Edge:
    """Register an edge; it begins in shadow: its plans are decided and logged, and nothing is done.

    Raises:
        Conflict: the workspace has an edge of this name.
    """
    row, created = Edge.objects.get_or_create(workspace_id=caller.workspace_id, name=name, defaults=values)
    if not created:
        raise access.Conflict(f"This workspace has an edge called {name!r}.", field="name")
    access.record(caller, "registered", row)
    return row


@transaction.atomic
def configure(caller: Caller, row: Edge, **values: Any) -> Edge:
    """Change what an operator decides of an edge: `shadow`, `line_bps`, `url`."""
    for name, value in values.items():
        setattr(row, name, value)
    row.save(update_fields=list(values))
    access.record(caller, "changed", row, **values)
    return row


@transaction.atomic
def remove(caller: Caller, row: Edge) -> None:
    """Forget an edge and its plans; its agent registers it again if it lives."""
    access.record(caller, "deleted", row, name=row.name)
    row.delete()


@transaction.atomic
def report(caller: Caller, pk: UUID | str, told: Mapping[str, Any]) -> Edge:
    """Take a report: how the edge stands, and once by its number what it served since the last one.

    Raises:
        Missing: the workspace has no such edge.
        Invalid: it claims more than it can hold.
    """
    row = Edge.objects.select_for_update().filter(pk=pk, workspace_id=caller.workspace_id).first()
    if row is None:
        raise access.Missing("This workspace has no such edge.")
    if told["occupied_bytes"] > 2 * max(told["capacity_bytes"], 1):
        raise access.Invalid("An edge cannot hold twice its capacity.", field="occupied_bytes")
    for name in ("occupied_bytes", "capacity_bytes", "load", "retransmission", "turnover_s"):
        setattr(row, name, told[name])
    row.pinned_bytes, row.mode, row.seen_at = told.get("pinned_bytes", 0), told.get("mode") or row.mode, timezone.now()
    _steer(row)
    if comparison := told.get("comparison"):
        row.windows = [*row.windows, dict(comparison)][-MOST_WINDOWS:]
    if told.get("sequence", 0) > row.sequence or "sequence" not in told:
        row.sequence = told.get("sequence", row.sequence)
        _count(row, told)
    row.save()
    _hold(row, told)
    return row


def _steer(row: Edge) -> None:
    """Let the origin limit follow retransmissions (AIMD, every five minutes)."""
    now = timezone.now().timestamp()
    start = control.origin_limit(row.line_bps, now)
    changed = row.limit_changed_at.timestamp() if row.limit_changed_at else 0.0
    current = min(row.limit_bps or start.original_bps, start.original_bps)
    known = control.OriginLimit(start.original_bps, current, changed)
    after = known.after(row.retransmission, now, tuning.marks(tuning.of(row.workspace_id)))
    row.limit_bps = after.current_bps
    if after.changed_at != changed:
        row.limit_changed_at = timezone.now()


def _count(row: Edge, told: Mapping[str, Any]) -> None:
    """Count requests and bytes by outcome, and origin bytes by reason, under the edge's name."""
    outcomes = {name: (told.get("outcomes") or {}).get(name) or {} for name in OUTCOMES}
    for name, part in outcomes.items():
        if part.get("requests"):
            metrics.count(row.workspace_id, CACHE, row.name, name, part["requests"])
        if part.get("bytes"):
            metrics.count(row.workspace_id, CACHE, row.name, f"bytes:{name}", part["bytes"])
    for reason, size in (told.get("origin_bytes") or {}).items():
        if size:
            metrics.count(row.workspace_id, CACHE, row.name, f"origin:{reason}", size)
    held = sum(outcomes[name].get("bytes", 0) for name in ("hit", "pinned_hit"))
    collapsing.follow(row, held, held + outcomes["miss"].get("bytes", 0))


def _hold(row: Edge, told: Mapping[str, Any]) -> None:
    """Keep what lies at the edge, as its agent told: all of it, or what came and went."""
    if told.get("whole"):
        Held.objects.filter(edge=row).delete()
    if removed := told.get("removed"):
        Held.objects.filter(edge=row, path__in=removed).delete()
    if added := told.get("added"):
        if Held.objects.filter(edge=row).count() + len(added) > MOST_HELD:
            raise access.Invalid(f"Up to {MOST_HELD:,} files of one edge are followed.", field="added")
        rows = [Held(edge=row, path=each["url"], bytes=each["bytes"]) for each in added]
        Held.objects.bulk_create(
            rows, batch_size=1_000, update_conflicts=True, unique_fields=["edge", "path"], update_fields=["bytes"]
        )


def plan_after(caller: Caller, pk: UUID | str, after: str) -> Plan | None:
    """Give an edge's newest plan, unless it is the one the edge has.

    Raises:
        Missing: the workspace has no such edge.
    """
    newest = Plan.objects.filter(edge=find(caller, pk)).order_by("-pk").first()
    return None if newest is None or str(newest.pk) == after else newest


@transaction.atomic
def answer(caller: Caller, pk: UUID | str, plan: UUID | str, told: dict[str, Any]) -> Plan:
    """Keep what an edge did of a plan; the last word counts.

    Raises:
        Missing: the edge has no such plan.
    """
    row = Plan.objects.filter(pk=plan, edge=find(caller, pk)).first()
    if row is None:
        raise access.Missing("This edge has no such plan.")
    Plan.objects.filter(pk=row.pk).update(result=told, answered_at=Now())
    row.refresh_from_db()
    return row


def lost(row: Edge) -> bool:
    """Say whether nothing was heard of an edge for a minute."""
    return row.seen_at is None or row.seen_at < timezone.now() - ALIVE
