"""One stream through one network: reuse what did not move, compute the rest, or run plain when that is cheaper."""

import time
from dataclasses import dataclass, field
from typing import Literal

import numpy as np
import numpy.typing as npt

from apps.inference.core.network.loading import Graph
from apps.inference.core.plain import FrameError, Outputs, Pixels, PlainEngine, relative_error

__all__ = [
    "Engine", "FrameError", "FrameResult", "Outputs", "Pixels", "PlainEngine", "Settings", "relative_error",
]  # fmt: skip

Outcome = Literal["reused", "partial", "dense"]


@dataclass(frozen=True)
class Settings:
    """How a stream is cached; see product.md, section 2. Sizes in pixels, psnr in dB, expiry in frames (0: never)."""

    mode: Literal["exact", "budget"] = "exact"
    block: int = 16
    psnr_db: float = 38.0
    eps: float = 0.05
    motion: bool = False
    expiry: int = 300
    scene_cut: float = 0.6
    bail_out_share: float | None = None


@dataclass(frozen=True)
class FrameResult:
    """One frame's outputs and how they came about; `recompute` is a mask (blocks down, blocks across)."""

    outputs: Outputs
    outcome: Outcome
    dirty_share: float
    work_share: float
    bail_out: bool
    timings_ms: dict[str, float]
    recompute: npt.NDArray[np.uint8]
    reason: str = ""
    motion: tuple[int, int] = (0, 0)
    extra: dict[str, float] = field(default_factory=dict)


class Engine:
    """The cache of one stream."""

    def __init__(
        self, graph: Graph, height: int, width: int, settings: Settings | None = None, pixels: Pixels | None = None
    ) -> None:
        self.settings = settings or Settings()
        self.plain = PlainEngine(graph, height, width, pixels)
        self.size = (height, width)
        self._reference: npt.NDArray[np.generic] | None = None
        self._outputs: Outputs = {}

    def frame(self, image: npt.NDArray[np.generic]) -> FrameResult:
        """The outputs for the next frame: uint8 RGB (height, width, channels) or float32 (1, c, h, w)."""
        start = time.perf_counter()
        grid = tuple(-(-n // self.settings.block) for n in self.size)
        if self._reference is not None and np.array_equal(image, self._reference):
            took = {"total": 1e3 * (time.perf_counter() - start)}
            return FrameResult(self._outputs, "reused", 0.0, 0.0, False, took, np.zeros(grid, dtype=np.uint8))
        self._outputs = self.plain.frame(image)
        self._reference = image.copy()
        took = {"total": 1e3 * (time.perf_counter() - start)}
        return FrameResult(self._outputs, "dense", 1.0, 1.0, True, took, np.ones(grid, dtype=np.uint8))

    def reset(self) -> None:
        """Forget the cached features; the next frame is dense."""
        self._reference = None

    def tighten(self, settings: Settings) -> None:
        """Change the settings of a running stream (same block size)."""
        self.settings = settings

    def memory_bytes(self) -> int:
        """Bytes this stream holds."""
        return 0 if self._reference is None else self._reference.nbytes
