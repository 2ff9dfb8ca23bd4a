"""The calibration curve as points of an inline SVG."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

WIDTH, HEIGHT, LEFT, TOP, RIGHT, BOTTOM = 640, 260, 44, 12, 12, 34


@dataclass(frozen=True, slots=True)
class Mark:
    """A vertical line at a threshold."""

    x: float
    name: str
    kind: str


@dataclass(frozen=True, slots=True)
class Tick:
    """A line of the grid and what it says."""

    at: float
    text: str


@dataclass(frozen=True, slots=True)
class Curve:
    """Precision's lower bound and recall against the threshold, ready to draw."""

    precision: str
    recall: str
    marks: list[Mark]
    across: list[Tick]
    up: list[Tick]
    width: int = WIDTH
    height: int = HEIGHT
    left: int = LEFT
    top: int = TOP
    right: int = WIDTH - RIGHT
    bottom: int = HEIGHT - BOTTOM


def curve(points: Sequence[dict[str, Any]], marks: Sequence[tuple[float | None, str, str]]) -> Curve | None:
    """Draw a calibration's curve; marks are (threshold, name, kind). None without points."""
    if len(points) < 2:
        return None
    taus = [float(point["tau"]) for point in points]
    low, high = min(taus), max(taus)
    span = max(high - low, 1e-6)

    def x(tau: float) -> float:
        return round(LEFT + (WIDTH - LEFT - RIGHT) * (tau - low) / span, 1)

    def y(share: float) -> float:
        return round(TOP + (HEIGHT - TOP - BOTTOM) * (1 - share), 1)

    def line(name: str) -> str:
        return " ".join(f"{x(float(point['tau']))},{y(float(point[name]))}" for point in points)

    shown = [Mark(x(tau), name, kind) for tau, name, kind in marks if tau is not None and low <= tau <= high]
    across = [Tick(x(low + span * step / 5), f"{low + span * step / 5:.2f}") for step in range(6)]
    up = [Tick(y(step / 4), f"{step / 4:.0%}") for step in range(5)]
    return Curve(line("precision_lower"), line("recall"), shown, across, up)
