"""What is replayed: a stretch of a trace, its segments made smaller so that one machine can carry them."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from pathlib import Path

import numpy as np

from apps.segments.bench import traces
from apps.segments.core.catalogue import Bools, Catalogue, Floats, Ints
from apps.segments.core.predictor.views import View
from apps.segments.core.simulator.trace import Trace
from workers.edge.ghost import footprint

SMALLER = 32  # every segment has so much fewer bytes than in the trace
HISTORY = 2000  # sessions before the stretch that a planner may learn from


@dataclass(frozen=True)
class World:
    """Requests in order of time, of the videos that are asked for; `capacity` in bytes on disk.

    `at` is in the trace's seconds, `row` of `catalogue`; `start` marks first requests of sessions. The first half warms
    the edge up.
    """

    name: str
    seed: int
    share: float
    catalogue: Catalogue
    at: Floats
    row: Ints
    session: Ints
    start: Bools
    history: list[View]

    @property
    def warm(self) -> int:
        """Give the number of requests that are not measured."""
        return len(self.row) // 2

    @cached_property
    def capacity(self) -> int:
        """Give the edge's bytes: a share of what is asked for, as it lies on disk."""
        return int(sum(footprint(int(size)) for size in self.catalogue.sizes[np.unique(self.row)]) * self.share)

    @property
    def demand_bytes(self) -> int:
        """Give the bytes that viewers ask for in the measured half."""
        return int(self.catalogue.sizes[self.row[self.warm :]].sum())


def path_of(row: int) -> str:
    """Give a row's path at the edge."""
    return f"/media/{row}.m4s"


def row_of(path: str) -> int:
    """Give the row of a path."""
    return int(path.rpartition("/")[2].partition(".")[0])


def real(folder: Path, share: float, requests: int) -> World:
    """Take the busiest stretch of the real trace."""
    return stretch(traces.real(folder), share, requests)


def generated(folder: Path, share: float, requests: int, seed: int = 1) -> World:
    """Take the busiest stretch of a generated trace."""
    return stretch(traces.generated(folder, seed), share, requests)


def stretch(trace: Trace, share: float, requests: int) -> World:
    """Cut the stretch with the most requests a second out of the later half of a trace."""
    half = len(trace) // 2
    begins = np.arange(half, max(half + 1, len(trace) - requests), max(1, requests // 10))
    ends = np.minimum(len(trace) - 1, begins + requests - 1)
    first = int(begins[np.argmin(trace.at[ends] - trace.at[begins])])
    chosen = slice(first, first + requests)
    catalogue, new_row = _only(trace.catalogue, np.unique(trace.catalogue.video[trace.row[chosen]]))
    return World(
        trace.name,
        trace.seed,
        share,
        catalogue,
        trace.at[chosen],
        new_row[trace.row[chosen]],
        trace.session[chosen],
        trace.start[chosen],
        _history(trace, first),
    )


def _only(whole: Catalogue, videos: Ints) -> tuple[Catalogue, Ints]:
    """Keep some videos; gives the smaller catalogue, with smaller sizes, and each old row's new one (-1: gone)."""
    kept = np.isin(whole.video, videos)
    sizes = np.maximum(64, whole.sizes[kept] // SMALLER)
    catalogue = Catalogue(whole.lengths[videos], whole.renditions[videos], sizes, whole.kinds[videos])
    new_row = np.full(len(whole.sizes), -1, np.int64)
    new_row[kept] = np.arange(int(kept.sum()))
    return catalogue, new_row


def _history(trace: Trace, end: int) -> list[View]:
    begin = max(0, end - HISTORY * 60)
    order = np.argsort(trace.session[begin:end], kind="stable") + begin
    cuts = np.flatnonzero(np.diff(trace.session[order])) + 1
    found = []
    for places in np.split(order, cuts)[-HISTORY:]:
        if len(places):
            video = int(trace.catalogue.video[trace.row[places[0]]])
            indices = trace.catalogue.index[trace.row[places]]
            found.append(View("", video, int(trace.catalogue.lengths[video]), indices))
    return found
