"""Views as predictors read them: whose, of what, and which segments in which order."""

from __future__ import annotations

import hashlib
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Protocol

import numpy as np

from apps.segments.core.catalogue import SEGMENT_S, Floats, Ints, Kind

# Seconds that a prediction looks ahead, by kind: (shortest, longest, default).
WINDOWS = {
    Kind.SHORT: (30.0, 45.0, 40.0),
    Kind.LIVE: (20.0, 20.0, 20.0),
    Kind.EDUCATION: (90.0, 120.0, 120.0),
    Kind.FILM: (90.0, 120.0, 120.0),
    Kind.SPORT: (90.0, 120.0, 90.0),
}
MODEL_SEGMENTS = 20  # what a model answers at most: the longest window in segments of 6 s


@dataclass(frozen=True)
class View:
    """One viewing: segment indices in the order of play, of a video of `length` segments."""

    viewer: str
    video: int
    length: int
    indices: Ints


@dataclass(frozen=True)
class Path:
    """A viewing so far; the last index is the segment that plays now."""

    video: int
    length: int
    indices: Ints


class Predictor(Protocol):
    """A model of viewers: names itself, and gives the next segments' probabilities."""

    @property
    def name(self) -> str:
        """Name the model as the API does."""

    def predict(self, path: Path, count: int) -> Floats:
        """Give the probability that each of the next `count` segments is played within `count` segments' time."""


def window_s(kind: Kind, asked: float | None = None, factor: float = 1.0) -> float:
    """Choose the seconds to look ahead: as asked within the kind's bounds; `factor` is the alarm's x 0.7."""
    low, high, usual = WINDOWS[kind]
    return min(high, max(low, usual if asked is None else asked)) * factor


def steps(window: float, segment_s: float = SEGMENT_S) -> int:
    """Count the segments of a window, at least one and at most what a model answers."""
    return max(1, min(MODEL_SEGMENTS, round(window / segment_s)))


def split(views: Sequence[View], held_out: float = 0.2) -> tuple[list[View], list[View]]:
    """Split views by viewer, always the same way: no viewer is in both parts."""
    parts: tuple[list[View], list[View]] = ([], [])
    for view in views:
        share = int.from_bytes(hashlib.blake2b(view.viewer.encode(), digest_size=4).digest(), "big") / 2**32
        parts[share < held_out].append(view)
    return parts


def examples(views: Sequence[View], count: int = MODEL_SEGMENTS, every: int = 3) -> Iterator[tuple[Path, Floats]]:
    """Cut views into decisions: the path so far, and for each of the next `count` segments whether it came in time.

    Segments past the video's end are left out, so the labels (0 or 1) may be fewer than `count`.
    """
    for view in views:
        for place in range(0, len(view.indices), every):
            now = int(view.indices[place])
            ahead = min(count, view.length - 1 - now)
            if ahead < 1:
                continue
            soon = view.indices[place + 1 : place + 1 + count] - now - 1
            label = np.zeros(ahead)
            label[soon[(soon >= 0) & (soon < ahead)]] = 1.0
            yield Path(view.video, view.length, view.indices[: place + 1]), label
