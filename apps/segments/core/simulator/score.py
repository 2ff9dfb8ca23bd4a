"""The numbers of one run, over the measured part of a trace."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from apps.segments.core.catalogue import Bools, Floats
from apps.segments.core.simulator import startup
from apps.segments.core.simulator.outcome import Outcome
from apps.segments.core.simulator.trace import Trace

PEAK_S, DAY_S = 900.0, 86400.0


@dataclass(frozen=True)
class Score:
    """What a policy did after the warm-up: shares from 0 to 1, bytes, bits/s.

    `byte_hit` is the share of the bytes asked for that the origin did not have to send: prewarmed bytes count as sent,
    so prefetching by itself cannot raise it. `waste_share` is the part of the prewarmed bytes that nobody asked for.
    """

    byte_hit: float
    request_hit: float
    demand_bytes: int
    prewarm_bytes: int
    waste_share: float
    daily_peak_bps: float

    @property
    def origin_bytes(self) -> int:
        """Give all bytes that the origin sent."""
        return self.demand_bytes + self.prewarm_bytes


def measured(trace: Trace) -> Bools:
    """Mark the requests of the second half of a trace's time; the first half warms up."""
    return np.asarray(trace.at >= middle(trace), np.bool_)


def middle(trace: Trace) -> float:
    """Give the moment (s) at which measuring begins."""
    return float(trace.at[0] + trace.at[-1]) / 2


def score(trace: Trace, outcome: Outcome) -> Score:
    """Count what happened after the warm-up."""
    inside, since = measured(trace), middle(trace)
    sizes = trace.catalogue.sizes
    missed = inside & ~outcome.hit
    early = outcome.prewarm_at >= since
    ahead = sizes[outcome.prewarm_row[early]]
    wasted = int(ahead[~outcome.prewarm_used[early]].sum())
    asked, demand = int(sizes[trace.row[inside]].sum()), int(sizes[trace.row[missed]].sum())
    when = np.concatenate([trace.at[missed], outcome.prewarm_at[early]])
    sent = np.concatenate([sizes[trace.row[missed]], ahead])
    prewarmed = int(ahead.sum())
    return Score(
        1 - (demand + prewarmed) / max(1, asked),
        float(outcome.hit[inside].mean()),
        demand,
        prewarmed,
        wasted / prewarmed if prewarmed else 0.0,
        daily_peak(when, sent.astype(np.float64)),
    )


def daily_peak(at: Floats, sent: Floats) -> float:
    """Average over the days each day's busiest quarter of an hour, in bits/s; the cut first and last days count too."""
    if not len(at):
        return 0.0
    slot = (at // PEAK_S).astype(np.int64)
    volume = np.bincount(slot - slot.min(), weights=sent)
    day = ((np.arange(len(volume)) + slot.min()) * PEAK_S // DAY_S).astype(np.int64)
    peaks = np.zeros(int(day[-1] - day[0]) + 1)
    np.maximum.at(peaks, day - day[0], volume)
    return float(peaks.mean() * 8 / PEAK_S)


def starts(trace: Trace, outcome: Outcome, origin: startup.Origin) -> tuple[float, float, float]:
    """Give the share of session starts whose segment was there in time, and the start-up time's p50 and p95 in s."""
    chosen = measured(trace) & trace.start
    took, there = startup.waits(trace, outcome, origin, chosen)
    if not len(took):
        return 0.0, 0.0, 0.0
    return float(there.mean()), float(np.percentile(took, 50)), float(np.percentile(took, 95))
