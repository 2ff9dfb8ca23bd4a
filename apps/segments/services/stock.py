"""What edges of a workspace may hold, as arrays that plans are made of; remembered while no video comes or goes."""

from __future__ import annotations

from dataclasses import dataclass
from uuid import UUID

import numpy as np
from django.db.models import Count, Max

from apps.segments.core import outline
from apps.segments.core.catalogue import Bools, Catalogue, Ints
from apps.segments.core.outline import Point
from apps.segments.core.value import Traits
from apps.segments.models import Moment, Segment, Video
from apps.segments.services.predicting import KINDS

Mark = tuple[int, object, int]


@dataclass(frozen=True, slots=True)
class Stock:
    """The catalogue, the address of each row, the place of each address and of each video, and what rows are about.

    `points`: each video's outline; `following`: the place of the next video of its course, or -1.
    """

    catalogue: Catalogue
    paths: list[str]
    row_of: dict[str, int]
    video_of: dict[UUID, int]
    titles: list[str]
    exact: Ints
    traits: Traits
    points: list[list[Point]]
    following: list[int]


_known: dict[UUID, tuple[Mark, Stock]] = {}


def stock(workspace_id: UUID) -> Stock | None:
    """Give the workspace's stock; None while it has no video that is ready."""
    ready = Video.objects.filter(workspace_id=workspace_id, status=Video.Status.DONE)
    told = ready.aggregate(count=Count("id"), last=Max("finished_at"))
    segments = Segment.objects.filter(video__in=ready).aggregate(last=Max("id"))["last"] or 0
    mark = (told["count"], told["last"], segments)
    known = _known.get(workspace_id)
    if known is None or known[0] != mark:
        found = _read(workspace_id)
        if found is None:
            return None
        known = _known[workspace_id] = (mark, found)
    return known[1]


def _read(workspace_id: UUID) -> Stock | None:
    videos = {
        row.pk: row for row in Video.objects.filter(workspace_id=workspace_id, status=Video.Status.DONE).order_by("pk")
    }
    parts: dict[UUID, dict[int, list[tuple[int, int, str]]]] = {}
    rows = Segment.objects.filter(video__in=list(videos)).order_by("video_id", "rendition", "index")
    for video, rendition, index, size, path in rows.values_list("video_id", "rendition", "index", "bytes", "path"):
        parts.setdefault(video, {}).setdefault(rendition, []).append((index, size, path))
    if not parts:
        return None
    lengths, renditions, sizes, paths = [], [], list[int](), list[str]()
    for ladder in parts.values():
        length = min(len(rung) for rung in ladder.values())  # renditions of one video are cut alike
        lengths.append(length)
        renditions.append(len(ladder))
        for rung in ladder.values():
            sizes += [size for _index, size, _path in rung[:length]]
            paths += [path for _index, _size, path in rung[:length]]
    kinds = np.array([KINDS[videos[key].kind] for key in parts], np.int64)
    catalogue = Catalogue(np.array(lengths, np.int64), np.array(renditions, np.int64), np.array(sizes, np.int64), kinds)
    return Stock(
        catalogue,
        paths,
        {path: row for row, path in enumerate(paths)},
        {key: place for place, key in enumerate(parts)},
        [videos[key].title for key in parts],
        catalogue.base,
        _traits(catalogue, list(parts), videos),
        [outline.read(videos[key].outline) for key in parts],
        _following([videos[key] for key in parts]),
    )


def _following(videos: list[Video]) -> list[int]:
    """Give the place of the video that was registered next in the same course, -1 where there is none."""
    found, last = [-1] * len(videos), dict[str, int]()
    for place in sorted(range(len(videos)), key=lambda place: videos[place].created_at):
        course = videos[place].course
        if course and course in last:
            found[last[course]] = place
        last[course] = place
    return found


def _traits(catalogue: Catalogue, keys: list[UUID], videos: dict[UUID, Video]) -> Traits:
    """Spread what is known of moments over the rows of all renditions."""
    density, continuity = np.zeros(len(catalogue.sizes)), np.ones(len(catalogue.sizes))
    exercise = np.zeros(len(catalogue.sizes), np.bool_)
    tags: dict[str, Bools] = {}
    place = {key: number for number, key in enumerate(keys)}
    rows = Moment.objects.filter(video__in=keys).values_list("video_id", "index", "density", "continuity")
    for key, index, dense, calm in rows:
        for row in _rows(catalogue, place[key], index):
            density[row], continuity[row] = dense, calm
    for key, number in place.items():
        here = slice(int(catalogue.base[number]), int(catalogue.base[number + 1]))
        exercise[here] = bool(videos[key].links.get("exercise"))
        for tag in videos[key].tags:
            tags.setdefault(tag, np.zeros(len(catalogue.sizes), np.bool_))[here] = True
    return Traits(density, continuity, exercise, tags)


def _rows(catalogue: Catalogue, video: int, index: int) -> list[int]:
    """Give the rows of one segment in every rendition; none beyond the video's end."""
    if index >= catalogue.lengths[video]:
        return []
    return [catalogue.row(video, index, rendition) for rendition in range(int(catalogue.renditions[video]))]


def rows_of(stock: Stock, video: UUID, index: int | None) -> list[int]:
    """Give the rows of a segment, or of a whole video, in every rendition; none of a video that is not ready."""
    place = stock.video_of.get(video)
    if place is None:
        return []
    if index is None:
        return list(range(int(stock.catalogue.base[place]), int(stock.catalogue.base[place + 1])))
    return _rows(stock.catalogue, place, index)
