"""Agreement between a cached run and the plain one, and the settings that keep it at a target."""

import math
from dataclasses import dataclass, field, replace

import numpy as np
import numpy.typing as npt

from apps.inference.core import comparing
from apps.inference.core.doubt import doubt
from apps.inference.core.engine import Engine, FrameResult, Settings

# From loose to tight; eps in deviations of a layer, psnr in dB. The last one reuses equal blocks only.
LADDER: tuple[tuple[float, float], ...] = (
    (38.0, 0.2), (39.0, 0.14), (40.0, 0.1), (41.0, 0.07), (42.0, 0.05), (42.0, 0.035), (43.0, 0.025), (45.0, 0.018),
    (48.0, 0.012), (math.inf, 0.008), (math.inf, 0.0),
)  # fmt: skip
START = 5
# One rung down makes an error about this much larger.
_STEP = 1.4
_LEAP = 3  # rungs that one shadow run may tighten by
# Shadow runs on a rung that need not be earned, and the share of what was saved that more may cost.
_FREE, _SPENT = 3, 0.2


@dataclass
class Guard:
    """Keeps a running stream at its agreement target by shadow runs: tight first, looser while they agree.

    Shadow runs are frequent at first and after every change, and grow rarer (up to one in `every`) while they agree.
    A step down that had to be taken back makes the next one harder.
    """

    target: float = 0.98
    every: int = 60
    window: int = 20
    rung: int = START
    patience: int = 2
    measured: list[float] = field(default_factory=list)
    _here: list[float] = field(default_factory=list)
    _gap: float = 1.0
    _wait: float = 0.0
    _wary: int = 1

    def due(self) -> bool:
        """Whether this frame is to be run plain too; call once a frame."""
        self._wait -= 1
        return self._wait < 0

    @property
    def proven(self) -> bool:
        """Whether enough shadow runs were made on this rung, the last of which agreed."""
        return len(self._here) >= _FREE and self._here[-1] >= self.target

    def settings(self, base: Settings) -> Settings:
        """The base settings with this guard's thresholds."""
        psnr, eps = LADDER[self.rung]
        return replace(base, psnr_db=psnr, eps=eps)

    def observe(self, agreement: float, expected: float = 1.0, looser: float = 1.0) -> bool:
        """Take in one shadow run; True when the settings changed, and the stream must apply them.

        `expected`: the agreement that recent frames let expect, `looser` the same one rung down.
        """
        self.measured.append(agreement)
        self._here.append(agreement)
        mean = float(np.mean(self._here[-self.window :]))
        if min(agreement, expected) < self.target and min(mean, expected) < self.target:
            self._wary = min(2 * self._wary, 16)
            return self._step(self._rungs(agreement))
        self._gap = min(1.5 * self._gap, float(self.every))
        self._wait = self._gap
        # A graded agreement (boxes, raw values) must leave room for the step; a class's comes from `looser`.
        room = mean >= self.target + (1 - self.target) / 2 and looser >= self.target
        ready = self.rung > 0 and len(self._here) >= self.patience * self._wary
        return ready and room and self._step(-1)

    def _rungs(self, agreement: float) -> int:
        """How many rungs tighter: a graded agreement says how far it is from the target, yes or no does not."""
        if not 0 < agreement < self.target:
            return 1
        factor = (1 - agreement) / (1 - self.target)
        return min(_LEAP, math.ceil(math.log(factor, _STEP)))

    def explores(self, bailed: int) -> bool:
        """Whether, after so many frames in a row that could not be reused, one rung looser is worth a look."""
        pause = 4 * self._wary
        return self.rung > START - 2 and bailed % pause == pause - 1

    def explore(self) -> None:
        """One rung looser although nothing was measured on this one: nothing could be."""
        self._step(-1)

    def _step(self, by: int) -> bool:
        before, self._gap = self.rung, 2.0
        self._here.clear()
        self._wait = self._gap
        self.rung = min(max(self.rung + by, 0), len(LADDER) - 1)
        return self.rung != before

    def agreement(self) -> float | None:
        """Mean of all shadow runs so far, None before the first."""
        return float(np.mean(self.measured)) if self.measured else None


class Watched:
    """A budget engine under a guard: some frames are run plain too, and the thresholds follow what that shows."""

    def __init__(self, engine: Engine, task: str, guard: Guard | None = None) -> None:
        self.engine, self.task, self.guard = engine, task, guard or Guard()
        self.doubt = doubt(task)
        self._bailed = 0
        if engine.settings.mode == "budget":
            engine.tighten(self.guard.settings(engine.settings))

    def frame(self, image: npt.NDArray[np.generic]) -> tuple[FrameResult, float | None]:
        """The frame's result, and its agreement with the plain run when this frame was a shadow run, else None."""
        result = self.look(image)
        return result, self.compare(image, result) if self.due(result) else None

    def look(self, image: npt.NDArray[np.generic]) -> FrameResult:
        """The frame's result alone."""
        result = self.engine.frame(image)
        self._bailed = self._bailed + 1 if result.bail_out else 0
        if self.engine.settings.mode == "exact":
            return result
        if result.bail_out and self.guard.explores(self._bailed):
            self._explore(image)
        elif result.bail_out and self.guard.explores(self._bailed + 1):
            self.engine.keep(image)
        if result.outcome != "dense":
            self.doubt.saw(result.outputs)
        return result

    def due(self, result: FrameResult) -> bool:
        """Whether this frame is to be run plain too; call once a frame."""
        if self.engine.settings.mode == "exact" or result.outcome == "dense":
            return False
        if not self.guard.due() and not self._doubtful():
            return False
        # A rung must be proven whatever that costs; more shadow runs may cost a part of what reuse has saved.
        pace = self.engine.pace
        return not self.guard.proven or pace.shadow_ms <= _SPENT * pace.saved_ms

    def _doubtful(self) -> bool:
        """Whether answers have become so close that flips are to be expected before the next shadow run is due."""
        return self.guard.rung < len(LADDER) - 1 and self.doubt.agreement() < self.guard.target

    def compare(self, image: npt.NDArray[np.generic], result: FrameResult) -> float:
        """Run a frame plain, take in how well its result agrees, and follow with the thresholds."""
        engine, guard = self.engine, self.guard
        plain = engine.shadow(image)
        engine.pace.saw_shadow()
        found, rung = comparing.agreement(self.task, result.outputs, plain), guard.rung
        self.doubt.compare(result.outputs, plain)
        expected, looser = self.doubt.agreement(), self.doubt.agreement(_STEP)
        if engine.settings.mode == "budget" and guard.observe(found, expected, looser):
            self._apply(guard.rung > rung)
        return found

    def _explore(self, image: npt.NDArray[np.generic]) -> None:
        """Go one rung looser if this frame could have been reused there; the next shadow runs judge it."""
        if self.engine.would_pay(image, LADDER[self.guard.rung - 1][0]):
            self.guard.explore()
            self.doubt.rescale(_STEP)
            self.engine.explore(self.guard.settings(self.engine.settings))

    def _apply(self, tighter: bool) -> None:
        self.doubt.rescale(1 / _STEP if tighter else _STEP)
        change = self.engine.tighten if tighter else self.engine.loosen
        change(self.guard.settings(self.engine.settings))
