"""A video's outline: knowledge points with their times and what they build on."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

MOST_POINTS = 500


class BrokenOutline(ValueError):
    """An outline that cannot be meant; the message says which point and why."""


@dataclass(frozen=True, slots=True)
class Point:
    """One knowledge point: from `start` to `end` in seconds, built on the points named in `prerequisites`."""

    title: str
    start: float
    end: float
    prerequisites: tuple[str, ...] = ()

    def told(self) -> dict[str, Any]:
        """Write it as JSON values."""
        found = {"title": self.title, "start": self.start, "end": self.end}
        return {**found, "prerequisites": list(self.prerequisites)}


def read(points: Any) -> list[Point]:
    """Read a list of `{"title", "start", "end", "prerequisites"}`, ordered by start.

    Raises:
        BrokenOutline: a title is missing or there twice, times make no sense, or a prerequisite is no point of it.
    """
    if not isinstance(points, list) or len(points) > MOST_POINTS:
        raise BrokenOutline(f"An outline is a list of up to {MOST_POINTS} points.")
    found = [_point(number, point) for number, point in enumerate(points, start=1)]
    titles = [point.title for point in found]
    for point in found:
        if titles.count(point.title) > 1:
            raise BrokenOutline(f"There are two points called {point.title[:60]!r}.")
        for name in point.prerequisites:
            if name not in titles or name == point.title:
                raise BrokenOutline(f"{point.title[:60]!r} cannot build on {name[:60]!r}.")
    return sorted(found, key=lambda point: point.start)


def at(points: Sequence[Point], seconds: float) -> Point | None:
    """Give the point that is treated at a time."""
    return next((point for point in points if point.start <= seconds < point.end), None)


def _point(number: int, point: Any) -> Point:
    if not isinstance(point, dict):
        raise BrokenOutline(f"Point {number} is no object.")
    title, before = point.get("title"), point.get("prerequisites") or []
    if not isinstance(title, str) or not 1 <= len(title.strip()) <= 200 or "\0" in title:
        raise BrokenOutline(f"Point {number} needs a title of up to 200 letters.")
    times = [point.get("start"), point.get("end")]
    if not all(isinstance(t, int | float) and not isinstance(t, bool) and math.isfinite(t) for t in times):
        raise BrokenOutline(f"Point {number} needs a start and an end in seconds.")
    start, end = float(times[0]), float(times[1])  # type: ignore[arg-type]
    if not 0 <= start < end <= 10**6:
        raise BrokenOutline(f"Point {number} must end after it starts.")
    if not isinstance(before, list) or not all(isinstance(name, str) for name in before):
        raise BrokenOutline(f"Point {number}: prerequisites are titles of other points.")
    return Point(title.strip(), start, end, tuple(before))
