"""Has what is asked, or how it is judged, changed? Shares by a two-sample z-test, similarities by the PSI."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import asdict, dataclass
from typing import Any

import numpy as np

BINS = 10
# From .25 on the population stability index is taken to mean that a distribution has shifted.
SHIFTED = 0.25
LARGE_Z = 5.0
LEAST_STEP = 0.05


@dataclass(frozen=True, slots=True)
class Drift:
    """What drifted (`similarity`, `grey` or `approvals`), its level before and now, and the statistic."""

    what: str
    before: float
    now: float
    statistic: float

    def as_mapping(self) -> dict[str, Any]:
        """Write it as JSON holds it."""
        return {name: round(value, 4) if isinstance(value, float) else value for name, value in asdict(self).items()}


def stability(before: Sequence[float], now: Sequence[float]) -> float:
    """Population stability index over deciles of `before`; about 0 for two samples of one distribution.

    Bins are smoothed by half an observation, so that an empty one is no infinite surprise.
    """
    edges = np.unique(np.quantile(before, np.linspace(0, 1, BINS + 1)[1:-1]))
    old, new = (np.bincount(np.searchsorted(edges, part), minlength=len(edges) + 1) + 0.5 for part in (before, now))
    p, q = old / old.sum(), new / new.sum()
    return float(np.sum((q - p) * np.log(q / p)))


def similarity(before: Sequence[float], now: Sequence[float]) -> Drift | None:
    """Say whether similarities to the golden tier shifted; levels are medians."""
    index = stability(before, now)
    return Drift("similarity", float(np.median(before)), float(np.median(now)), index) if index > SHIFTED else None


def share(what: str, before: tuple[int, int], now: tuple[int, int]) -> Drift | None:
    """Say whether a share (count, of) changed by more than chance and by more than five points."""
    (k0, n0), (k1, n1) = before, now
    pooled = (k0 + k1) / (n0 + n1)
    spread = math.sqrt(max(pooled * (1 - pooled), 1e-9) * (1 / n0 + 1 / n1))
    z = (k1 / n1 - k0 / n0) / spread
    if abs(z) < LARGE_Z or abs(k1 / n1 - k0 / n0) < LEAST_STEP:
        return None
    return Drift(what, k0 / n0, k1 / n1, z)
