"""An edge's plan: what to prewarm, keep, evict and pin, each with a reason that an operator understands."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, field
from enum import IntEnum
from typing import NamedTuple

import numpy as np

from apps.segments.core import control
from apps.segments.core.catalogue import Bools, Catalogue, Floats, Ints
from apps.segments.core.value import Values


class Stage(IntEnum):
    """Why something is wanted: earlier stages come later in the queue when bytes are scarce."""

    PATH = 0
    INTENT = 1
    PLACEMENT = 2


class Wish(NamedTuple):
    """A segment wanted at the edge: `in_s` seconds from now, with a probability and the reason in words."""

    row: int
    stage: Stage
    in_s: float
    probability: float
    reason: str


class Line(NamedTuple):
    """One line of a plan."""

    row: int
    bytes: int
    reason: str
    score: float


@dataclass(frozen=True)
class Edge:
    """What an edge reports: `cached` says for each row whether it is there; `load` from 0 to 1; rates in bit/s."""

    capacity_bytes: int
    cached: Bools
    load: float = 0.0
    limit_bps: float = 10e6
    used_bytes: int | None = None  # what nginx counts, when it differs from the sum of the rows


@dataclass(frozen=True)
class Rules:
    """Limits of one plan: `interval_s` until the next, requests at most, the share that pins may take."""

    interval_s: float = 10.0
    requests: int = 200
    pin_share: float = 0.05
    base_threshold: float = 1e-3
    fill: float = 0.98  # evict until the edge is this full
    shadow: bool = False


@dataclass(frozen=True)
class Plan:
    """What an edge should do until the next plan."""

    prewarm: list[Line] = field(default_factory=list)
    keep: list[Line] = field(default_factory=list)
    evict: list[Line] = field(default_factory=list)
    pin: list[Line] = field(default_factory=list)
    refused: list[Line] = field(default_factory=list)  # pins over the cap, wishes over the budget
    budget_bytes: int = 0
    limit_bps: float = 0.0
    shadow: bool = False


def make(
    catalogue: Catalogue,
    values: Values,
    factor: Floats,
    edge: Edge,
    wishes: Iterable[Wish] = (),
    pins: Sequence[tuple[int, str]] = (),
    rules: Rules | None = None,
) -> Plan:
    """Decide a plan; `factor` multiplies the values, `pins` are (row, reason), the most important first.

    Pins come first, up to their share of the edge. Wishes follow by stage, then by what they are worth a byte, within
    the bytes that the origin limit allows until the next plan and within the requests. What must go to make room goes
    by ascending value; nothing is evicted for a wish that is worth less.
    """
    rules = rules or Rules()
    score = values.value * factor
    pinned, refused = _pins(catalogue, pins, int(edge.capacity_bytes * rules.pin_share))
    held = np.zeros(len(catalogue.sizes), np.bool_)
    held[[line.row for line in pinned]] = True
    budget = int(min(edge.limit_bps * rules.interval_s / 8, edge.capacity_bytes))
    wanted = _wanted(catalogue, edge, wishes, pinned)
    order = _leaving(edge.cached & ~held, score)
    threshold = control.eviction_threshold(rules.base_threshold, edge.load)
    room = _Room(catalogue.sizes, score, order, edge, rules, threshold)
    prewarm = _prewarm(catalogue, wanted, held, room, (budget, rules.requests), refused)
    room.settle()
    explain = explainer(values)
    evict = [Line(int(row), int(catalogue.sizes[row]), explain(int(row)), float(score[row])) for row in room.gone]
    staying = edge.cached & ~held
    staying[room.gone] = False
    rows = np.flatnonzero(staying)
    sizes, scores = catalogue.sizes[rows].tolist(), score[rows].tolist()
    reasons = map(explain, rows.tolist())
    keep = list(map(Line, rows.tolist(), sizes, reasons, scores))
    return Plan(prewarm, keep, evict, pinned, refused, budget, edge.limit_bps, rules.shadow)


def _pins(catalogue: Catalogue, pins: Sequence[tuple[int, str]], cap: int) -> tuple[list[Line], list[Line]]:
    taken, refused, used = [], [], 0
    for row, reason in dict(pins).items():
        size = int(catalogue.sizes[row])
        if used + size <= cap:
            used += size
            taken.append(Line(row, size, reason, 1.0))
        else:
            refused.append(Line(row, size, f"{reason}: over the pins' share of this edge", 0.0))
    return taken, refused


def _wanted(catalogue: Catalogue, edge: Edge, wishes: Iterable[Wish], pinned: list[Line]) -> list[Wish]:
    """Order the wishes that are not there yet, each row once: pins, path, intent, placement; likely ones first."""
    best: dict[int, tuple[tuple[float, ...], Wish]] = {}
    for line in pinned:
        if not edge.cached[line.row]:
            best[line.row] = ((-1.0,), Wish(line.row, Stage.PATH, 0.0, 1.0, line.reason))
    for wish in wishes:
        if not edge.cached[wish.row]:
            rank = (float(wish.stage), -wish.probability, wish.in_s)
            if wish.row not in best or rank < best[wish.row][0]:
                best[wish.row] = (rank, wish)
    return [wish for _, wish in sorted(best.values(), key=lambda pair: pair[0])]


def _leaving(candidates: Bools, score: Floats) -> Ints:
    rows = np.flatnonzero(candidates)
    return np.asarray(rows[np.argsort(score[rows], kind="stable")], np.int64)


class _Room:
    """The bytes of an edge while a plan is made: who leaves, in ascending order of value, for whom."""

    def __init__(self, sizes: Ints, score: Floats, order: Ints, edge: Edge, rules: Rules, threshold: float) -> None:
        self.sizes, self.score, self.order = sizes, score, order
        used = int(sizes[edge.cached].sum()) if edge.used_bytes is None else edge.used_bytes
        self.free = int(edge.capacity_bytes * rules.fill) - used
        self.threshold = threshold
        self.gone: list[int] = []

    def make(self, size: int, worth: float) -> bool:
        """Free `size` bytes from rows worth less than `worth` by more than the threshold; false when impossible."""
        place, free = len(self.gone), self.free
        while free < size and place < len(self.order):
            row = int(self.order[place])
            if self.score[row] + self.threshold >= worth:
                return False
            free += int(self.sizes[row])
            place += 1
        if free < size:
            return False
        self.gone.extend(self.order[len(self.gone) : place].tolist())
        self.free = free - size
        return True

    def settle(self) -> None:
        """Evict the least valuable until the edge is no fuller than it should be."""
        while self.free < 0 and len(self.gone) < len(self.order):
            row = int(self.order[len(self.gone)])
            self.gone.append(row)
            self.free += int(self.sizes[row])


def _prewarm(
    catalogue: Catalogue,
    wanted: list[Wish],
    held: Bools,
    room: _Room,
    limits: tuple[int, int],
    refused: list[Line],
) -> list[Line]:
    left, requests = limits
    lines: list[Line] = []
    for wish in wanted:
        size = int(catalogue.sizes[wish.row])
        worth = np.inf if held[wish.row] else max(wish.probability, float(room.score[wish.row]))
        if size > left or len(lines) >= requests:
            refused.append(Line(wish.row, size, f"{wish.reason}: over the budget", wish.probability))
        elif room.make(size, worth):
            left -= size
            lines.append(Line(wish.row, size, wish.reason, wish.probability))
        else:
            refused.append(Line(wish.row, size, f"{wish.reason}: worth less than what is there", wish.probability))
    return lines


def explainer(values: Values) -> Callable[[int], str]:
    """Give a function that says in words where a row's value comes from."""
    soon, coming = values.soon_s.tolist(), values.coming.tolist()
    starts, value = values.starts.tolist(), values.value.tolist()

    def explain(row: int) -> str:
        if coming[row] >= 0.05 and starts[row] <= 0.5 * value[row]:
            return f"{coming[row]:.1f} viewers on their way, the next in {duration(soon[row])}"
        if value[row] >= 0.01:
            return f"new viewers start this video: {value[row]:.0%} likely before it would be turned over"
        return "nobody on the way and few start this video"

    return explain


def duration(seconds: float) -> str:
    """Write a time span as an operator would say it."""
    if seconds < 90:
        return f"{seconds:.0f} s"
    return f"{seconds / 60:.0f} min" if seconds < 5400 else f"{seconds / 3600:.1f} h"
