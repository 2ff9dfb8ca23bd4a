"""Make an edge's plan: value what may be held, wish for what viewers will ask for, and say why in every line."""

from __future__ import annotations

from collections.abc import Iterator
from datetime import timedelta
from typing import Any
from uuid import UUID

import numpy as np
from django.db.models.functions import Now
from django.utils import timezone

from apps.segments.core import plan as plans
from apps.segments.core import value
from apps.segments.core.catalogue import SEGMENT_S, Bools
from apps.segments.models import Edge, Event, Held, Pin, Plan
from apps.segments.services import demand, predicting, tuning, wishes
from apps.segments.services.stock import Stock, rows_of, stock
from apps.segments.services.wishes import Watcher

EVERY = timedelta(seconds=10)
WATCHING = timedelta(minutes=5)
USUAL_TURNOVER_S = 3_600.0
MOST_VIEWERS = 5_000
KEPT_PLANS = 200
What = Event.What


def make(edge: Edge) -> Plan | None:
    """Make an edge's next plan and keep it; None while the workspace has no video that is ready."""
    known = stock(edge.workspace_id)
    if known is None:
        return None
    now = timezone.now()
    watchers = list(_watchers(edge.workspace_id, known))
    models = predicting.models_of(edge.workspace_id)
    coming = value.Demand(demand.survival(known, models), demand.start_rates(edge.workspace_id, known))
    crowd = value.crowd([
        (each.video, each.rendition, each.index, max(0.0, (now - each.at).total_seconds()))
        for each in watchers if each.event not in (What.END, What.INTENT)
    ])  # fmt: skip
    values = value.next_access(known.catalogue, crowd, coming, edge.turnover_s or USUAL_TURNOVER_S)
    told = plans.Edge(
        edge.capacity_bytes, _cached(edge, known), min(1.0, edge.load), edge.limit_bps, used_bytes=edge.occupied_bytes
    )
    chosen = tuning.of(edge.workspace_id)
    rules = plans.Rules(interval_s=EVERY.total_seconds(), shadow=edge.shadow, pin_share=chosen.pin_share)
    wanted = wishes.of(known, watchers, models, edge)
    factor = value.adjustment(known.catalogue, known.traits, tuning.multipliers(chosen))
    if chosen.source_score:
        values = demand.scored(edge.workspace_id, known, values)
    values = demand.held_for(values, wanted)
    return _keep(edge, known, plans.make(known.catalogue, values, factor, told, wanted, _pins(edge, known), rules))


def _watchers(workspace_id: UUID, known: Stock) -> Iterator[Watcher]:
    """Give the last event of every viewing of the last five minutes."""
    rows = Event.objects.filter(workspace_id=workspace_id, at__gt=Now() - WATCHING)
    rows = rows.order_by("session", "video_id", "-at").distinct("session", "video_id")
    told = rows.values_list("video_id", "rendition", "position_s", "event", "at")[:MOST_VIEWERS]
    for key, rendition, position, event, at in told:
        video = known.video_of.get(key)
        if video is None:
            continue
        last = int(known.catalogue.lengths[video]) - 1
        rung = min(rendition, int(known.catalogue.renditions[video]) - 1)
        yield Watcher(video, rung, min(last, int(position // SEGMENT_S)), event, at)


def _cached(edge: Edge, known: Stock) -> Bools:
    found = np.zeros(len(known.paths), np.bool_)
    for path in Held.objects.filter(edge=edge).values_list("path", flat=True).iterator(5_000):
        row = known.row_of.get(path)
        if row is not None:
            found[row] = True
    return found


def _pins(edge: Edge, known: Stock) -> list[tuple[int, str]]:
    rows = Pin.objects.filter(workspace_id=edge.workspace_id).order_by("pk")
    return [
        (row, pin.reason or "Pinned by a person.") for pin in rows for row in rows_of(known, pin.video_id, pin.index)
    ]


def _keep(edge: Edge, known: Stock, made: plans.Plan) -> Plan:
    def lines(found: list[plans.Line]) -> list[dict[str, Any]]:
        return [
            {"url": known.paths[line.row], "bytes": line.bytes, "reason": line.reason, "score": round(line.score, 6)}
            for line in found
        ]

    row = Plan.objects.create(
        edge=edge, prewarm=lines(made.prewarm), evict=lines(made.evict), pin=lines(made.pin),
        refused=lines(made.refused)[:100], kept=len(made.keep), budget_bytes=made.budget_bytes,
        limit_bps=made.limit_bps, shadow=made.shadow,
    )  # fmt: skip
    old = Plan.objects.filter(edge=edge).order_by("-pk").values_list("pk", flat=True)[KEPT_PLANS:]
    Plan.objects.filter(pk__in=list(old)).delete()
    return row
