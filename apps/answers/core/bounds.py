"""Exact bounds of a share seen in a sample (Clopper and Pearson, 1934)."""

from __future__ import annotations

from scipy.special import betaincinv


def upper_bound(events: int, trials: int, confidence: float = 0.95) -> float:
    """Give the one-sided upper bound of a share; 1.0 when nothing was tried."""
    if trials == 0 or events >= trials:
        return 1.0
    return float(betaincinv(events + 1, trials - events, confidence))


def lower_bound(events: int, trials: int, confidence: float = 0.95) -> float:
    """Give the one-sided lower bound of a share; 0.0 when nothing was tried."""
    if trials == 0 or events == 0:
        return 0.0
    return float(betaincinv(events, trials - events + 1, 1 - confidence))
