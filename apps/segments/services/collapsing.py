"""The collapse alarm: the byte hit rate falls from its usual level; checks run by themselves, measures are a click."""

from __future__ import annotations

from dataclasses import asdict
from datetime import timedelta
from typing import Any

from django.db.models import Count, Max
from django.db.models.functions import Now
from django.utils import timezone

from apps.access import services as access
from apps.access.core.callers import Caller
from apps.segments.core import control
from apps.segments.models import Edge, Event, Predictor, Video
from apps.segments.services import tuning

QUICK, SLOW = 0.2, 0.02  # weights of one report in the present and in the usual rate
FEWEST_BYTES = 1_000_000


def follow(row: Edge, held: int, served: int) -> None:
    """Let one report move the rates, and open or close the alarm; the row is saved by the caller."""
    if served < FEWEST_BYTES:
        return
    rate = held / served
    row.byte_hit = rate if row.byte_hit is None else row.byte_hit + QUICK * (rate - row.byte_hit)
    row.usual_hit = rate if row.usual_hit is None else row.usual_hit + SLOW * (rate - row.usual_hit)
    alarm = control.collapse(row.usual_hit, row.byte_hit, _health(row))
    row.collapsed = {**asdict(alarm), "at": timezone.now().isoformat()} if alarm else {}
    if not alarm:
        row.measures = []
    elif tuning.of(row.workspace_id).automatic:
        row.measures = sorted({*row.measures, *(measure.value for measure in alarm.measures)})


def _health(row: Edge) -> control.Health:
    serving = Predictor.objects.filter(workspace_id=row.workspace_id, role="trajectory", serving=True).first()
    described = Video.objects.filter(workspace_id=row.workspace_id).aggregate(last=Max("features_at"))["last"]
    age = (timezone.now() - described).total_seconds() if described else 0.0
    return control.Health((serving.p99_ms or 0.0) if serving else 0.0, age, _shift(row))


def _shift(row: Edge) -> float:
    """Compare which videos were asked for in the last ten minutes with the day before."""
    rows = Event.objects.filter(workspace_id=row.workspace_id, at__gt=Now() - timedelta(days=1))
    before = dict(rows.values_list("video").annotate(n=Count("id")))
    lately = dict(rows.filter(at__gt=Now() - timedelta(minutes=10)).values_list("video").annotate(n=Count("id")))
    return control.pattern_shift(list(before.values()), [lately.get(video, 0) for video in before]) if lately else 0.0


def take_measure(caller: Caller, row: Edge, measure: str) -> None:
    """Put a measure against a collapse in force until the alarm ends.

    Raises:
        Invalid: there is no such measure.
    """
    if measure not in list(control.Measure):
        raise access.Invalid("There is no such measure.", field="measure")
    measures: list[Any] = sorted({*row.measures, measure})
    Edge.objects.filter(pk=row.pk).update(measures=measures)
    access.record(caller, f"took the measure {measure} at", row)
