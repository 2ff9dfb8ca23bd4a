"""What an edge should have before it is asked for: wishes by stage, each with its reason in words."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from datetime import datetime, timedelta

import numpy as np
from django.utils import timezone

from apps.segments.core import outline, predictor
from apps.segments.core.catalogue import SEGMENT_S, Floats
from apps.segments.core.control import WINDOW_FACTOR, Measure
from apps.segments.core.plan import Stage, Wish
from apps.segments.models import Edge, Event
from apps.segments.services.predicting import Models
from apps.segments.services.stock import Stock

What = Event.What
INTENT = timedelta(minutes=5)  # so long what somebody opened is wanted, and held once it is there
STARTS = 0.7  # the chance that who opened a page starts its video
AHEAD = 5  # segments that are wished for along a viewer's path
LIKELY = 0.3
FIRST = 2  # segments of every video that start-up waits for
LINKED, ONWARD = 0.05, 0.2  # the chance that a viewer looks up what a point builds on, or goes on to the next video
FINISHED = 0.8  # from this share of a video on, its viewer may go on to the next one of the course


@dataclass(frozen=True, slots=True)
class Watcher:
    """One viewing as it stands: video and segment by place, rendition, when it was last heard of."""

    video: int
    rendition: int
    index: int
    event: str
    at: datetime


def of(known: Stock, watchers: list[Watcher], models: Models, edge: Edge) -> list[Wish]:
    """Give all wishes for an edge: path, knowledge tree, intent, placement."""
    return [
        *_path(known, watchers, models, _steps(edge)), *_linked(known, watchers), *_intent(known, watchers),
        *_placement(known, edge),
    ]  # fmt: skip


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


def _linked(known: Stock, watchers: list[Watcher]) -> Iterator[Wish]:
    """Wish for what a viewer's knowledge point builds on, and, near the end, for the next video of the course."""
    for each in watchers:
        if each.event in (What.END, What.INTENT):
            continue
        points = known.points[each.video]
        here = outline.at(points, each.index * SEGMENT_S)
        for point in points:
            index = int(point.start // SEGMENT_S)
            if here and point.title in here.prerequisites and index < known.catalogue.lengths[each.video]:
                row = known.catalogue.row(each.video, index, each.rendition)
                yield Wish(row, Stage.PATH, 60.0, LINKED, f"{here.title} builds on {point.title}.")
        after = known.following[each.video]
        if after >= 0 and each.index >= FINISHED * known.catalogue.lengths[each.video]:
            rung = min(each.rendition, int(known.catalogue.renditions[after]) - 1)
            reason = f"{known.titles[after]} follows {known.titles[each.video]}, which somebody is about to finish."
            yield Wish(known.catalogue.row(after, 0, rung), Stage.PATH, 300.0, ONWARD, reason)


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
