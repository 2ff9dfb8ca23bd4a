"""What the caches saved in the last day, at the workspace's prices; each cache says how it counts."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable
from dataclasses import dataclass

from apps.access.core.prices import Prices
from apps.access.models import Workspace
from apps.metrics.services import reading

DAY_S = 86_400
STEP_S = 3_600


@dataclass(frozen=True, slots=True)
class Saving:
    """One thing saved: how much, in `calls`, `tokens`, `seconds`, `bytes`, `frames` or `money`."""

    unit: str
    amount: float


@dataclass(frozen=True, slots=True)
class Day:
    """One cache's last 24 hours."""

    cache: str
    requests: int
    hit_share: float | None
    savings: tuple[Saving, ...]


Counted = Callable[[Counter[str], Prices], list[Saving]]
_counted: dict[str, Counted] = {}


def register_savings(cache: str, counted: Counted) -> None:
    """Let a cache say what its counts of a day are worth."""
    _counted[cache] = counted


def saved(workspace: Workspace) -> list[Day]:
    """Give the last day of each cache that was used."""
    prices = Prices.from_mapping(workspace.prices)
    days = []
    for cache in reading.CACHES:
        counts: Counter[str] = Counter()
        for point in reading.series(workspace.pk, cache, DAY_S, STEP_S):
            counts.update(point["counts"])
        requests = reading.requests(cache, counts)
        if requests:
            savings = _counted[cache](counts, prices) if cache in _counted else []
            days.append(Day(cache, requests, reading.shares(cache, counts)["hit_share"], tuple(savings)))
    return days
