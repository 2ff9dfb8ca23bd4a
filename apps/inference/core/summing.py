"""The statistics of a job, as its frames come."""

from collections import Counter
from dataclasses import dataclass, field

import numpy as np


@dataclass
class Agreement:
    """Agreement with the plain engine, estimated over all frames although few are compared.

    Calibration compares more often after a disagreement, so that each comparison stands for the frames since the one
    before it; dense frames are full runs and agree.
    """

    total: float = 0.0
    weight: int = 0
    since: int = 0
    begun: bool = False

    @property
    def value(self) -> float | None:
        """The estimate (0..1); None before the first comparison."""
        return self.total / self.weight if self.begun and self.weight else None

    def add(self, outcome: str, found: float | None) -> None:
        """Take in the next frame; `found` is None where it was not compared."""
        self.begun |= found is not None
        if outcome == "dense":
            self._count(1.0 if found is None else found, 1)
            return
        self.since += 1
        if found is not None:
            self._count(found, self.since)
            self.since = 0

    def _count(self, found: float, frames: int) -> None:
        self.total += found * frames
        self.weight += frames


@dataclass
class Tape:
    """What is kept of every frame to say p50, p95, speed-up and agreement at any time; times in milliseconds."""

    outcomes: Counter[str] = field(default_factory=Counter)
    cached: list[float] = field(default_factory=list)
    plain: list[float] = field(default_factory=list)
    agreement: Agreement = field(default_factory=Agreement)
    work: float = 0.0
    bail_outs: int = 0

    def add(
        self,
        outcome: str,
        work_share: float,
        cached_ms: float,
        plain_ms: float | None,
        agreement: float | None,
        bail_out: bool,
    ) -> None:
        """Take in one frame."""
        self.outcomes[outcome] += 1
        self.work += work_share if outcome != "reused" else 0.0
        self.cached.append(cached_ms)
        self.bail_outs += bail_out
        if plain_ms is not None:
            self.plain.append(plain_ms)
        self.agreement.add(outcome, agreement)

    def stats(self) -> dict[str, int | float | None]:
        """The fields of api.md; speed-up is the mean plain time over the mean time of all frames, dense ones too."""
        frames = len(self.cached)
        mean = float(np.mean(self.cached)) if frames else 0.0
        return {
            "frames": frames,
            "reused": self.outcomes["reused"],
            "partial": self.outcomes["partial"],
            "dense": self.outcomes["dense"],
            "work_share": round(self.work / frames, 4) if frames else None,
            "p50_ms": _quantile(self.cached, 50),
            "p95_ms": _quantile(self.cached, 95),
            "plain_p50_ms": _quantile(self.plain, 50),
            "speedup": round(float(np.mean(self.plain)) / mean, 3) if self.plain and mean else None,
            "agreement": None if self.agreement.value is None else round(self.agreement.value, 4),
            "bail_outs": self.bail_outs,
        }


def _quantile(values: list[float], percent: float) -> float | None:
    return round(float(np.percentile(values, percent)), 3) if values else None
