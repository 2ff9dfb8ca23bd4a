"""A trace: who asked an edge for which segment when."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property

import numpy as np

from apps.segments.core.catalogue import Bools, Catalogue, Floats, Ints


@dataclass(frozen=True)
class Sessions:
    """Viewing sessions, one number each: viewer, video, rendition at the start, and the moment the page opened (s)."""

    viewer: Ints
    video: Ints
    rendition: Ints
    opened_at: Floats


@dataclass(frozen=True)
class Trace:
    """Requests in order of time: `at` in seconds, `row` of the catalogue, `session`; `release_at` s for each video.

    `start` marks the requests that a viewer waits for with a blank screen: the first of a session.
    """

    name: str
    seed: int
    catalogue: Catalogue
    sessions: Sessions
    release_at: Floats
    at: Floats
    row: Ints
    session: Ints
    start: Bools

    def __len__(self) -> int:
        """Count the requests."""
        return len(self.row)

    @cached_property
    def next_use(self) -> Ints:
        """Give for each request the place of the next request of the same row; the number of requests if none."""
        found = np.full(len(self.row), len(self.row), np.int64)
        order = np.lexsort((np.arange(len(self.row)), self.row))
        same = self.row[order[1:]] == self.row[order[:-1]]
        found[order[:-1][same]] = order[1:][same]
        return found

    @cached_property
    def footprint(self) -> int:
        """Give the bytes of all segments that are asked for at least once."""
        return int(self.catalogue.sizes[np.unique(self.row)].sum())
