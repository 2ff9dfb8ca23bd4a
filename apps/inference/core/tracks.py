"""One network on one run of frames, as jobs and streams use it: cached, and now and then the plain run beside it.

The engine compiles as it is imported, so this module imports it only when the first track begins.
"""

import threading
import time
import zlib
from dataclasses import dataclass, replace
from functools import lru_cache
from pathlib import Path
from typing import TYPE_CHECKING, Any, Literal

import numpy as np
import numpy.typing as npt

from apps.inference.core import readings

if TYPE_CHECKING:
    from apps.inference.core.calibration import Watched
    from apps.inference.core.engine import Engine, FrameResult, Model, Settings

Image = npt.NDArray[np.uint8]
Mode = Literal["exact", "budget"]
# Tracks of one process share networks, which serve one thread at a time.
_turn = threading.Lock()


@dataclass(frozen=True)
class Recipe:
    """A registered network: its ONNX file, input size in pixels, normalisation, task and labels."""

    path: str
    height: int
    width: int
    mean: tuple[float, ...]
    std: tuple[float, ...]
    task: str
    labels: tuple[str, ...] = ()


@dataclass(frozen=True)
class Plan:
    """How a run of frames is cached; psnr_db (dB) and eps (deviations) left out are steered by measured agreement.

    every: a plain run beside each so many frames, to measure agreement and time; 0 is never.
    """

    mode: Mode = "exact"
    block: int = 16
    psnr_db: float | None = None
    eps: float | None = None
    motion: bool = False
    expiry: int = 300
    every: int = 30


@dataclass(frozen=True)
class Seen:
    """One frame: how it came about, times in wall milliseconds, and what the network said.

    `grid` is uint8 (down, across) per block: the share of work redone in 0..127, plus 128 where pixels changed.
    """

    outcome: str
    reason: str
    dirty_share: float
    work_share: float
    bail_out: bool
    cached_ms: float
    plain_ms: float | None
    agreement: float | None
    result: dict[str, Any]
    grid: Image


@lru_cache(maxsize=2)
def _model(recipe: Recipe) -> "Model":
    """The network, ready to run, kept warm by this process."""
    from apps.inference.core import engine, graph

    pixels = engine.Pixels(recipe.mean, recipe.std)
    return engine.Model(graph.load(Path(recipe.path).read_bytes()), recipe.height, recipe.width, pixels)


def _settings(plan: Plan) -> "Settings":
    from apps.inference.core.frames import Settings

    settings = Settings(mode=plan.mode, block=plan.block, motion=plan.motion, expiry=plan.expiry)
    psnr_db = settings.psnr_db if plan.psnr_db is None else plan.psnr_db
    return replace(settings, psnr_db=psnr_db, eps=settings.eps if plan.eps is None else plan.eps)


class Track:
    """The cache of one job or stream; frames of one track come one after the other."""

    def __init__(self, recipe: Recipe, plan: Plan, rung: int | None = None) -> None:
        from apps.inference.core import calibration, comparing, engine

        self.recipe, self.plan = recipe, plan
        self._agreement = comparing.agreement
        with _turn:
            self.engine: Engine = engine.Engine(_model(recipe), recipe.height, recipe.width, _settings(plan))
        self.watched: Watched | None = None
        if plan.mode == "budget" and plan.every and plan.psnr_db is None and plan.eps is None:
            guard = calibration.Guard(every=plan.every, rung=calibration.START if rung is None else rung)
            self.watched = calibration.Watched(self.engine, recipe.task, guard)
        self.number = 0

    @property
    def rung(self) -> int | None:
        """How tight calibration holds the thresholds now; given back when a run is taken up again."""
        return self.watched.guard.rung if self.watched else None

    def frame(self, image: Image, size: tuple[int, int]) -> Seen:
        """Run one RGB frame of the network's size; `size` (width, height) is the picture's own."""
        with _turn:
            began = time.perf_counter()
            result = self.watched.look(image) if self.watched else self.engine.frame(image)
            cached = 1e3 * (time.perf_counter() - began)
            plain_ms, agreement = self._shadow(image, result) if self._due(result) else (None, None)
            grid = self._grid(result)
        self.number += 1
        scale = size[0] / self.recipe.width, size[1] / self.recipe.height
        told = readings.read(self.recipe.task, result.outputs, self.recipe.labels, scale)
        return Seen(
            outcome=result.outcome,
            reason=result.reason,
            dirty_share=round(result.dirty_share, 4),
            work_share=round(result.work_share, 4),
            bail_out=result.bail_out,
            cached_ms=round(cached, 3),
            plain_ms=plain_ms,
            agreement=agreement,
            result=told,
            grid=grid,
        )

    def reset(self) -> None:
        """Forget the cached features: the next frame is dense."""
        with _turn:
            self.engine.reset()

    def memory_bytes(self) -> int:
        """Bytes this track holds."""
        return self.engine.memory_bytes()

    def _due(self, result: "FrameResult") -> bool:
        if not self.plan.every:
            return False
        guarded = self.watched is not None and self.watched.due(result)
        return guarded or self.number % self.plan.every == 0

    def _shadow(self, image: Image, result: "FrameResult") -> tuple[float, float]:
        """Time and agreement of the plain run; calibration follows what it shows."""
        began = time.perf_counter()
        if self.watched and result.outcome != "dense":
            found = self.watched.compare(image, result)
        else:
            found = self._agreement(self.recipe.task, result.outputs, self.engine.shadow(image))
        return round(1e3 * (time.perf_counter() - began), 3), round(found, 4)

    def _grid(self, result: "FrameResult") -> Image:
        changed = result.recompute.astype(np.uint8) * 128
        if result.outcome == "reused":
            return changed
        if result.outcome == "dense":
            return changed | np.uint8(127)
        work = np.rint(np.clip(self.engine.reuse_map(), 0, 1) * 127).astype(np.uint8)
        return changed | work


def packed(grid: Image) -> bytes:
    """A grid as bytes: its rows and columns (two bytes each), then its cells, deflated."""
    return zlib.compress(np.array(grid.shape, dtype="<u2").tobytes() + grid.tobytes(), 6)


def unpacked(data: bytes) -> Image:
    """The grid behind `packed`."""
    raw = zlib.decompress(data)
    down, across = (int(v) for v in np.frombuffer(raw[:4], dtype="<u2"))
    return np.frombuffer(raw[4:], dtype=np.uint8).reshape(down, across)
