"""What goes into a stream and what comes out of a frame: settings, results, times."""

import time
from collections.abc import Callable
from dataclasses import dataclass
from typing import Literal, TypeVar

from apps.inference.core import blocks
from apps.inference.core.plain import Outputs

_T = TypeVar("_T")
Outcome = Literal["reused", "partial", "dense"]


@dataclass(frozen=True)
class Settings:
    """How a stream is cached (product.md, section 2). Block in pixels, psnr in dB, eps in deviations of a layer.

    expiry: a full run every so many frames, 0 is never. scene_cut: share of blocks that changed beyond recognition.
    bail_out_share: run plain from this predicted share of work on; None learns it from this machine's times.
    """

    mode: Literal["exact", "budget"] = "exact"
    block: int = 16
    psnr_db: float = 42.0
    eps: float = 0.05
    motion: bool = False
    expiry: int = 300
    scene_cut: float = 0.6
    bail_out_share: float | None = None

    def __post_init__(self) -> None:
        if self.mode not in ("exact", "budget") or not 4 <= self.block <= 256 or self.eps < 0 or self.expiry < 0:
            raise ValueError("settings: mode is exact or budget, block 4..256, eps and expiry not negative")


@dataclass(frozen=True)
class FrameResult:
    """One frame's outputs (read them, do not write) and how they came about.

    `recompute` is a grid of blocks (down, across), 1 where pixels differed from the reference. `reason` says why a run
    was dense: first, expiry, scene cut, settled (the scene stands still again), bail-out, dense tail (in exact mode a
    network that cannot be computed in pieces to 1e-5 is run whole whenever a pixel changes).
    """

    outputs: Outputs
    outcome: Outcome
    dirty_share: float
    work_share: float
    bail_out: bool
    timings_ms: dict[str, float]
    recompute: blocks.Bytes
    reason: str = ""
    motion: tuple[int, int] = (0, 0)


@dataclass(frozen=True)
class Match:
    """Where a frame differs from the reference after a movement, and the share of work predicted from that."""

    grid: blocks.Bytes
    move: tuple[int, int] = (0, 0)
    share: float = 0.0


class Clock:
    """Wall time of the parts of one frame in milliseconds."""

    def __init__(self) -> None:
        self._start = self._last = time.perf_counter()
        self._parts: dict[str, float] = {}

    def lap(self, name: str) -> None:
        """The part that ends now took the time since the last lap."""
        now = time.perf_counter()
        self._parts[name], self._last = 1e3 * (now - self._last), now

    def total(self) -> dict[str, float]:
        """All parts and their total so far."""
        return {**self._parts, "total": 1e3 * (time.perf_counter() - self._start)}


def timed(call: Callable[[], _T]) -> tuple[_T, float]:
    """The result of a call and the milliseconds of CPU time this thread took for it."""
    start = time.thread_time()
    result = call()
    return result, 1e3 * (time.thread_time() - start)
