"""Control loops of an edge: eviction threshold, origin limit, collapse alarm and fall-back (WorldCache)."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from enum import StrEnum

CALM_LOAD = 0.7  # up to this load the eviction threshold stays at its base


def eviction_threshold(base: float, load: float) -> float:
    """Raise the threshold `base` by half of the load (0 to 1) above 70%, so that a busy edge does not thrash."""
    if base < 0 or not 0 <= load <= 1:
        raise ValueError("The base must not be negative and the load must lie between 0 and 1.")
    return base * (1 + 0.5 * max(0.0, load - CALM_LOAD))


@dataclass(frozen=True)
class Marks:
    """Retransmission shares (0 to 1) above which the origin limit falls and below which it recovers."""

    high: float = 0.02
    low: float = 0.005

    def __post_init__(self) -> None:
        if not 0 <= self.low <= self.high <= 1:
            raise ValueError("Marks must satisfy 0 <= low <= high <= 1.")


SOURCE_MARKS = Marks(high=0.10, low=0.05)  # those of WorldCache itself


@dataclass(frozen=True)
class OriginLimit:
    """How fast an edge may prewarm from the origin, in bits per second."""

    original_bps: float
    current_bps: float
    changed_at: float = 0.0

    def after(
        self, retransmission: float, now: float, marks: Marks | None = None, every_s: float = 300.0
    ) -> OriginLimit:
        """Decide the next limit: x 0.9 above the high mark, x 1.1 up to the original below the low mark.

        `retransmission` is a share from 0 to 1, `now` seconds on the clock of `changed_at`; before `every_s` seconds
        have passed nothing changes.
        """
        if not 0 <= retransmission <= 1:
            raise ValueError("Retransmission is a share between 0 and 1.")
        marks = marks or Marks()
        if now - self.changed_at < every_s:
            return self
        current = self.current_bps
        if retransmission > marks.high:
            current *= 0.9
        elif retransmission < marks.low:
            current = min(self.original_bps, current * 1.1)
        return replace(self, current_bps=current, changed_at=now)


def origin_limit(capacity_bps: float, now: float = 0.0, share: float = 0.8) -> OriginLimit:
    """Start the limit at a share of the line's capacity (80%)."""
    if capacity_bps <= 0 or not 0 < share <= 1:
        raise ValueError("Capacity must be positive and the share must lie in (0, 1].")
    return OriginLimit(capacity_bps * share, capacity_bps * share, now)


class Check(StrEnum):
    """What a collapse is examined for."""

    LATENCY = "prediction_latency"
    FEATURES = "features_fresh"
    PATTERN = "access_pattern"


class Measure(StrEnum):
    """What an operator, or the platform by itself, can do about a collapse."""

    STANDBY = "standby_model"
    PREWARM = "prewarm_hot"
    WINDOW = "shorter_window"


WINDOW_FACTOR = 0.7  # the third measure multiplies the prediction window by this


@dataclass(frozen=True)
class Health:
    """What the checks look at: latency in ms, age of the newest features in s, total variation of the requests."""

    prediction_p99_ms: float
    features_age_s: float
    pattern_shift: float


@dataclass(frozen=True)
class Alarm:
    """A collapse of the hit rate (shares 0 to 1), the checks that failed and the measures that answer them."""

    usual: float
    now: float
    failed: tuple[Check, ...]
    measures: tuple[Measure, ...]


def examine(
    health: Health, latency_ms: float = 200.0, age_s: float = 24 * 3600.0, shift: float = 0.3
) -> tuple[Check, ...]:
    """Name the checks that fail."""
    found = (
        (Check.LATENCY, health.prediction_p99_ms > latency_ms),
        (Check.FEATURES, health.features_age_s > age_s),
        (Check.PATTERN, health.pattern_shift > shift),
    )
    return tuple(check for check, failed in found if failed)


def collapse(usual: float, now: float, health: Health, fall: float = 50 / 85) -> Alarm | None:
    """Raise an alarm when the hit rate (share 0 to 1) falls from its usual level as far as from 85% to 50%."""
    if usual <= 0 or now > usual * fall:
        return None
    failed = examine(health)
    answers = {Check.LATENCY: Measure.STANDBY, Check.FEATURES: Measure.WINDOW, Check.PATTERN: Measure.PREWARM}
    measures = tuple(answers[check] for check in failed) or (Measure.STANDBY, Measure.PREWARM, Measure.WINDOW)
    return Alarm(usual, now, failed, measures)


def pattern_shift(before: Sequence[float], now: Sequence[float]) -> float:
    """Measure how far two histograms of requests over the same videos lie apart: total variation, 0 to 1."""
    if len(before) != len(now) or min([*before, *now, 0.0]) < 0:
        raise ValueError("Both histograms need the same length and no negative count.")
    first, second = sum(before), sum(now)
    if not first or not second:
        return 0.0 if first == second else 1.0
    return 0.5 * sum(abs(a / first - b / second) for a, b in zip(before, now, strict=True))


class Mode(StrEnum):
    """How an edge treats plans: carries them out, only decides and logs, or has fallen back to plain LRU."""

    ACTIVE = "active"
    SHADOW = "shadow"
    FALLBACK = "fallback"


@dataclass(frozen=True)
class Comparison:
    """Origin bytes of one window under the plan and under a shadow LRU that saw the same requests."""

    plan_origin_bytes: int
    lru_origin_bytes: int

    @property
    def saved_share(self) -> float:
        """Give the share of LRU's origin bytes that the plan saves; negative where it loses."""
        return 1 - self.plan_origin_bytes / self.lru_origin_bytes if self.lru_origin_bytes else 0.0


def next_mode(mode: Mode, windows: Sequence[Comparison], patience: int = 3, margin: float = 0.0) -> Mode:
    """Decide an edge's mode from its latest windows, oldest first.

    An active edge falls back when the plan lost to LRU in each of the last `patience` windows, or by more than 20% in
    the last one; a fallen one goes to shadow when the plan would have won as often. Shadow ends by an operator's word.
    """
    if mode is Mode.ACTIVE and windows and windows[-1].saved_share < -0.2:
        return Mode.FALLBACK
    latest = windows[-patience:]
    if len(latest) < patience:
        return mode
    if mode is Mode.ACTIVE and all(window.saved_share < -margin for window in latest):
        return Mode.FALLBACK
    if mode is Mode.FALLBACK and all(window.saved_share > margin for window in latest):
        return Mode.SHADOW
    return mode
