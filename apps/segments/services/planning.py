"""Make an edge's plan: value what may be held, wish for what viewers will ask for, and say why in every line."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from datetime import datetime, timedelta
from typing import Any
from uuid import UUID

import numpy as np
from django.db.models.functions import Now
from django.utils import timezone

from apps.segments.core import plan as plans
from apps.segments.core import predictor, value
from apps.segments.core.catalogue import SEGMENT_S, Bools, Floats
from apps.segments.core.control import WINDOW_FACTOR, Measure
from apps.segments.core.plan import Stage, Wish
from apps.segments.models import Edge, Event, Held, Pin, Plan
from apps.segments.services import demand, predicting, tuning
from apps.segments.services.predicting import Models
from apps.segments.services.stock import Stock, rows_of, stock

EVERY = timedelta(seconds=10)
WATCHING = timedelta(minutes=5)
INTENT = timedelta(minutes=5)  # so long what somebody opened is wanted, and held once it is there
STARTS = 0.7  # the chance that who opened a page starts its video
USUAL_TURNOVER_S = 3_600.0
AHEAD = 5  # segments that are wished for along a viewer's path
LIKELY = 0.3
MOST_VIEWERS = 5_000
FIRST = 2  # segments of every video that start-up waits for
KEPT_PLANS = 200
What = Event.What


@dataclass(frozen=True, slots=True)
class Watcher:
    """One viewing as it stands: video and segment by place, rendition, when it was last heard of."""

    video: int
    rendition: int
    index: int
    event: str
    at: datetime


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
    wishes = [*_path(known, watchers, models, _steps(edge)), *_intent(known, watchers), *_placement(known, edge)]
    factor = value.adjustment(known.catalogue, known.traits, tuning.multipliers(chosen))
    if chosen.source_score:
        values = demand.scored(edge.workspace_id, known, values)
    values = demand.held_for(values, wishes)
    return _keep(edge, known, plans.make(known.catalogue, values, factor, told, wishes, _pins(edge, known), rules))


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


def _steps(edge: Edge) -> int:
    """Look less far ahead while that is the measure against a collapse."""
    return round(AHEAD * WINDOW_FACTOR) if Measure.WINDOW in edge.measures else AHEAD


def _path(known: Stock, watchers: list[Watcher], models: Models, ahead: int) -> Iterator[Wish]:
    """Wish for what those who play will ask for next, as the serving model sees it; viewers at one place are alike."""
    seen: dict[tuple[int, int], Floats] = {}
    for each in watchers:
        if each.event in (What.END, What.INTENT, What.PAUSE):
            continue
        length = int(known.catalogue.lengths[each.video])
        place = (each.video, each.index)
        if place not in seen:
            path = predictor.Path(each.video, length, np.array([each.index], np.int64))
            seen[place] = predictor.answer(models.model, models.standby, path, ahead)[1]
        for step, chance in enumerate(seen[place], start=1):
            if chance < LIKELY:
                break
            row = known.catalogue.row(each.video, each.index + step, each.rendition)
            reason = f"A viewer of {known.titles[each.video]} will be there in about {step * SEGMENT_S:.0f} s."
            yield Wish(row, Stage.PATH, step * SEGMENT_S, float(chance), reason)


def _intent(known: Stock, watchers: list[Watcher]) -> Iterator[Wish]:
    """Wish for where those who opened a page will begin: the resume point and what follows."""
    since = timezone.now() - INTENT
    for each in watchers:
        if each.event == What.INTENT and each.at > since:
            last = int(known.catalogue.lengths[each.video])
            for index in range(each.index, min(last, each.index + FIRST)):
                row = known.catalogue.row(each.video, index, each.rendition)
                yield Wish(row, Stage.INTENT, 2.0, STARTS, f"Somebody has just opened {known.titles[each.video]}.")


def _placement(known: Stock, edge: Edge) -> Iterator[Wish]:
    """Wish for the beginnings of all videos, so that each starts at once; in every rendition as a measure."""
    catalogue = known.catalogue
    rungs = 3 if Measure.PREWARM in edge.measures else 1
    for video, title in enumerate(known.titles):
        for rendition in range(min(rungs, int(catalogue.renditions[video]))):
            for index in range(min(FIRST, int(catalogue.lengths[video]))):
                row = catalogue.row(video, index, rendition)
                yield Wish(row, Stage.PLACEMENT, 600.0, 0.1, f"The beginning of {title}: it should start at once.")


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
