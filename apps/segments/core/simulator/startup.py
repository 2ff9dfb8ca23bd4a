"""How long a viewer looks at a blank screen: the first segment from the edge or through it from the origin.

The last mile takes two round trips (playlist, segment) of 30 ms and 20 Mb/s; a miss adds two round trips to the origin
(connection, request) and passes the segment on as it comes. A segment that is still on its way when it is asked for,
because it was prewarmed a moment ago, is waited for. No real network is this even; the model compares policies.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from apps.segments.core.catalogue import Bools, Floats
from apps.segments.core.simulator.outcome import Outcome
from apps.segments.core.simulator.trace import Trace

MILE_S, MILE_BPS = 0.03, 20e6


@dataclass(frozen=True)
class Origin:
    """An origin as an edge sees it: round trip in s, bits/s for one flow."""

    name: str
    round_trip_s: float
    bps: float


FAST, SLOW = Origin("fast", 0.15, 8e6), Origin("slow", 0.4, 2e6)


def waits(trace: Trace, outcome: Outcome, origin: Origin, chosen: Bools) -> tuple[Floats, Bools]:
    """Give for the chosen requests the seconds until the segment is there, and whether it was there when asked for."""
    bits = trace.catalogue.sizes[trace.row[chosen]] * 8.0
    away = 2 * origin.round_trip_s + bits / origin.bps
    mile = bits / MILE_BPS
    left = np.where(outcome.hit[chosen], np.clip(away - outcome.waited_s[chosen], 0.0, None), away)
    return 2 * MILE_S + np.maximum(mile, left), left <= 0
