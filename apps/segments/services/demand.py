"""What a plan knows of those who will come: how far they watch, how often they start, who has just opened a page."""

from __future__ import annotations

import time
from dataclasses import replace
from datetime import timedelta
from uuid import UUID

import numpy as np
from django.db.models import Count, F, Max, Q
from django.db.models.functions import Floor, Now
from django.utils import timezone

from apps.segments.core import value
from apps.segments.core.catalogue import SEGMENT_S, Floats
from apps.segments.core.plan import Stage, Wish
from apps.segments.models import Event
from apps.segments.services.predicting import Models
from apps.segments.services.stock import Stock, rows_of

RATES = timedelta(hours=2)  # over which the source's score looks for the last use
# How much the start rate over each span counts, as the simulated policy was tuned.
SPANS = {timedelta(hours=1): 0.1, timedelta(hours=8): 0.5, timedelta(days=3): 0.4}
UNSEEN_PER_S = 1e-5
REMEMBER_S = 30.0
_counted: dict[UUID, tuple[float, Stock, Floats]] = {}


def survival(known: Stock, models: Models) -> Floats:
    """Give the share of starters who reach each segment, from a video's own curve where it has one."""
    found = []
    for key, place in known.video_of.items():
        length = int(known.catalogue.lengths[place])
        own = models.curves.get(str(key), [])
        onward = np.array(own) if len(own) == length else models.standby.onward(length)
        found.append(np.concatenate([[1.0], np.cumprod(onward[:-1])]))
    return np.concatenate(found)


def start_rates(workspace_id: UUID, known: Stock) -> Floats:
    """Give the start rates, counted at most half a minute ago (see `count_starts`)."""
    kept = _counted.get(workspace_id)
    if kept is None or kept[1] is not known or time.monotonic() - kept[0] > REMEMBER_S:
        kept = _counted[workspace_id] = (time.monotonic(), known, count_starts(workspace_id, known))
    return kept[2]


def count_starts(workspace_id: UUID, known: Stock) -> Floats:
    """Give starts a second by video and rendition: an hour, eight hours, three days; a little for what is new."""
    catalogue = known.catalogue
    rates = np.full((len(catalogue.lengths), int(catalogue.renditions.max())), UNSEEN_PER_S)
    rows = Event.objects.filter(workspace_id=workspace_id, event=Event.What.PLAY, position_s__lt=3 * SEGMENT_S)
    spans = {f"in{place}": Count("id", Q(at__gt=Now() - span)) for place, span in enumerate(SPANS)}
    rows = rows.filter(at__gt=Now() - max(SPANS))
    for key, rendition, *starts in rows.values_list("video_id", "rendition").annotate(**spans).order_by():
        video = known.video_of.get(key)
        if video is not None and rendition < catalogue.renditions[video]:
            parts = zip(SPANS.items(), starts, strict=True)
            rates[video, rendition] += sum(weight * count / span.total_seconds() for (span, weight), count in parts)
    return rates


def scored(workspace_id: UUID, known: Stock, values: value.Values) -> value.Values:
    """Put WorldCache's own score in the place of the value: probability x size / root of the age, scaled to 0 to 1."""
    ages = np.full(len(known.catalogue.sizes), RATES.total_seconds())
    rows = Event.objects.filter(workspace_id=workspace_id, at__gt=Now() - RATES)
    place = Floor(F("position_s") / SEGMENT_S)
    now = timezone.now()
    for key, index, last in rows.values_list("video_id", place).annotate(last=Max("at")).order_by():
        for row in rows_of(known, key, int(index)):
            ages[row] = (now - last).total_seconds()
    chance = 1 - np.exp(-values.coming - values.starts)
    score = value.source_score(chance, known.catalogue.sizes, np.ones(len(ages)), ages)
    return replace(values, value=score / max(float(score.max(initial=0.0)), 1e-12))


def held_for(values: value.Values, wishes: list[Wish]) -> value.Values:
    """Let nothing leave that was fetched for somebody who has opened its page and may start any moment."""
    worth = values.value.copy()
    for wish in wishes:
        if wish.stage is Stage.INTENT:
            worth[wish.row] = max(worth[wish.row], wish.probability)
    return replace(values, value=worth)
