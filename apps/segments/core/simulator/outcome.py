"""What a simulated cache did: which requests it answered, and which bytes it fetched beforehand."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property

import numpy as np

from apps.segments.core.catalogue import Bools, Floats, Ints


@dataclass(frozen=True)
class Outcome:
    """One run: `hit` for each request; `waited_s` since a hit segment was asked from the origin (infinite: long ago).

    The prewarmed segments have a row, a moment (s), and whether somebody asked for them before they left.
    """

    hit: Bools
    waited_s: Floats
    prewarm_at: Floats
    prewarm_row: Ints
    prewarm_used: Bools
    took_s: float = 0.0

    @cached_property
    def requests_per_s(self) -> float:
        """Give the simulator's speed."""
        return len(self.hit) / self.took_s if self.took_s else 0.0


def plain(hit: Bools, took_s: float = 0.0) -> Outcome:
    """Build the outcome of a cache that never prewarms."""
    none = np.zeros(0)
    waited = np.where(hit, np.inf, 0.0)
    return Outcome(hit, waited, none, none.astype(np.int64), none.astype(np.bool_), took_s)
