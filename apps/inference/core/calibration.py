"""Agreement between a cached run and the plain one, and the settings that keep it at a target."""

import math
from dataclasses import dataclass, field, replace

import numpy as np
import numpy.typing as npt

from apps.inference.core import detection
from apps.inference.core.engine import Engine, FrameResult, Outputs, Settings

Floats = npt.NDArray[np.float32]

# From loose to tight; eps in deviations of a layer, psnr in dB. The last one reuses equal blocks only.
LADDER: tuple[tuple[float, float], ...] = (
    (36.0, 0.3), (36.0, 0.15), (38.0, 0.1), (40.0, 0.1), (42.0, 0.1), (44.0, 0.1), (46.0, 0.07), (48.0, 0.05),
    (51.0, 0.03), (math.inf, 0.02), (math.inf, 0.0),
)  # fmt: skip


def top1(ours: Floats, plain: Floats) -> float:
    """1.0 when both logits (1, classes) name the same class, else 0.0; averaged over a batch."""
    return float(np.mean(np.argmax(ours, axis=-1) == np.argmax(plain, axis=-1)))


def iou(one: Floats, many: Floats) -> Floats:
    """Intersection over union of a box (4,) with boxes (n, 4), as x0, y0, x1, y1."""
    low, high = np.maximum(one[:2], many[:, :2]), np.minimum(one[2:], many[:, 2:])
    inside = np.prod(np.clip(high - low, 0, None), axis=1)
    areas = np.prod(many[:, 2:] - many[:, :2], axis=1) + np.prod(one[2:] - one[:2])
    return np.asarray(inside / np.maximum(areas - inside, 1e-9), dtype=np.float32)


def f1(ours: Floats, plain: Floats, threshold: float = 0.5) -> float:
    """F1 of boxes (n, 4) against the plain run's (m, 4), matched greedily at an IoU; 1.0 when neither has any."""
    if not len(ours) or not len(plain):
        return float(len(ours) == len(plain))
    free = np.ones(len(plain), dtype=bool)
    hits = 0
    for box in ours:
        overlap = np.where(free, iou(box, plain), 0.0)
        best = int(np.argmax(overlap))
        if overlap[best] >= threshold:
            free[best] = False
            hits += 1
    return 2.0 * hits / (len(ours) + len(plain))


def closeness(ours: Floats, plain: Floats) -> float:
    """For raw outputs: 1 - mean absolute difference over the plain run's mean absolute value, at least 0."""
    scale = float(np.mean(np.abs(plain))) or 1.0
    return max(0.0, 1.0 - float(np.mean(np.abs(ours - plain))) / scale)


def agreement(task: str, ours: Outputs, plain: Outputs) -> float:
    """Agreement (0..1) of one frame: classification top-1, detection F1 at IoU 0.5, raw closeness; the first output."""
    one, two = next(iter(ours.values())), next(iter(plain.values()))
    if task == "classification":
        return top1(one, two)
    if task == "detection":
        return f1(detection.boxes(ours)[:, :4], detection.boxes(plain)[:, :4])
    return closeness(one, two)


@dataclass
class Guard:
    """Keeps a running stream at its agreement target from shadow runs: tightens at once, loosens slowly.

    Shadow runs start with every frame, and grow rarer (up to one in `every`) while they agree; after a disagreement
    they are frequent again.
    """

    target: float = 0.98
    every: int = 60
    window: int = 20
    rung: int = 4
    patience: int = 40
    measured: list[float] = field(default_factory=list)
    _good: int = 0
    _gap: float = 1.0
    _wait: float = 0.0

    def due(self) -> bool:
        """Whether this frame is to be run plain too; call once a frame."""
        self._wait -= 1
        return self._wait < 0

    def settings(self, base: Settings) -> Settings:
        """The base settings with this guard's thresholds."""
        psnr, eps = LADDER[self.rung]
        return replace(base, psnr_db=psnr, eps=eps)

    def observe(self, agreement: float) -> bool:
        """Take in one shadow run; True when the settings changed, and the stream must apply them."""
        self.measured.append(agreement)
        fine = agreement >= self.target
        self._good = self._good + 1 if fine else 0
        self._gap = min(self._gap * 1.4, float(self.every)) if fine else 2.0
        self._wait = self._gap
        if not fine and float(np.mean(self.measured[-self.window :])) < self.target:
            return self._step(1)
        return self._good >= self.patience and self._step(-1)

    def _step(self, by: int) -> bool:
        before, self._good = self.rung, 0
        self.rung = min(max(self.rung + by, 0), len(LADDER) - 1)
        return self.rung != before

    def agreement(self) -> float | None:
        """Mean of all shadow runs so far, None before the first."""
        return float(np.mean(self.measured)) if self.measured else None


class Watched:
    """A budget engine under a guard: some frames are run plain too, and the thresholds follow what that shows."""

    def __init__(self, engine: Engine, task: str, guard: Guard | None = None) -> None:
        self.engine, self.task, self.guard = engine, task, guard or Guard()
        if engine.settings.mode == "budget":
            engine.tighten(self.guard.settings(engine.settings))

    def frame(self, image: npt.NDArray[np.generic]) -> tuple[FrameResult, float | None]:
        """The frame's result, and its agreement with the plain run when this frame was a shadow run, else None."""
        result = self.engine.frame(image)
        if self.engine.settings.mode == "exact" or not self.guard.due() or result.outcome == "dense":
            return result, None
        found = agreement(self.task, result.outputs, self.engine.shadow(image))
        if self.guard.observe(found):
            self.engine.tighten(self.guard.settings(self.engine.settings))
        return result, found
