"""How likely answers are to differ from the plain run's, told from frames that were not run plain.

A stream has thousands of frames and few shadow runs. A shadow run tells how large errors are; every frame tells what an
error of that size would do to its answer. Together they see what a handful of yes and no cannot.
"""

import math
from collections import deque
from dataclasses import dataclass, field

import numpy as np
import numpy.typing as npt

from apps.inference.core import comparing, detection
from apps.inference.core.plain import Outputs

Floats = npt.NDArray[np.float32]
# After the first few, boxes are drawn again for one frame in so many: it costs some milliseconds.
_SAMPLED, _FIRST = 4, 8
# Where no box is near, none can change; but scores this far off are not trusted with the next one that comes.
_CALM = 0.1
# A disagreement of boxes grows with the errors by about this power (measured on clips with fuzzy boxes).
_POWER = 1.5


@dataclass
class Doubt:
    """Errors of the last shadow runs and what recent frames have to fear of them; here nothing, for raw outputs."""

    errors: deque[float] = field(default_factory=lambda: deque(maxlen=8))
    seen: deque[float] = field(default_factory=lambda: deque(maxlen=90))

    def saw(self, outputs: Outputs) -> None:
        """Take note of a frame's outputs."""

    def compare(self, ours: Outputs, plain: Outputs) -> None:
        """Take note of how far a shadow run's outputs lie from the plain run's."""

    def agreement(self, factor: float = 1.0) -> float:
        """Expected agreement (0..1) of recent frames with the plain run, were the errors `factor` times as large."""
        return 1.0

    def rescale(self, factor: float) -> None:
        """Keep one error, grown or shrunk as the thresholds were, until the next is seen."""
        known = self.deviation() * factor
        self.errors.clear()
        self.errors.append(known)

    def deviation(self) -> float:
        """Root mean square of the errors seen; 0.0 before the first."""
        return float(np.sqrt(np.mean(np.square(self.errors)))) if self.errors else 0.0


class Margins(Doubt):
    """For a classifier: an error of deviation s flips an answer of margin m with the normal chance beyond m / s."""

    def saw(self, outputs: Outputs) -> None:
        """Note the margin between the two largest of a frame's logits (1, classes)."""
        row = next(iter(outputs.values())).reshape(-1)
        if row.size > 1:
            second, first = np.partition(row, -2)[-2:]
            self.seen.append(float(first - second))

    def compare(self, ours: Outputs, plain: Outputs) -> None:
        """Note how far a shadow run moved the plain run's two largest logits against each other."""
        one, two = (next(iter(outputs.values())).reshape(-1) for outputs in (ours, plain))
        if two.size > 1:
            second, first = np.argsort(two)[-2:]
            self.errors.append(float((one[first] - one[second]) - (two[first] - two[second])))

    def agreement(self, factor: float = 1.0) -> float:
        """Expected share of frames with the plain run's answer."""
        spread = max(self.deviation() * factor * math.sqrt(2.0), 1e-9)
        sure = [0.5 * (1.0 + math.erf(m / spread)) for m in self.seen]
        return float(np.mean(sure)) if sure else 1.0


@dataclass
class Jitter(Doubt):
    """For a detector: boxes are drawn again with all scores raised, and lowered, by the deviation of the errors."""

    frames: int = 0

    def saw(self, outputs: Outputs) -> None:
        """Note how much a frame's boxes change when its scores do."""
        self.frames += 1
        by = self.deviation()
        if by == 0 or (self.frames % _SAMPLED and len(self.seen) >= _FIRST):
            return
        kept = detection.boxes(outputs)[:, :4]
        moved = [detection.boxes(detection.shifted(outputs, sign * by))[:, :4] for sign in (1.0, -1.0)]
        self.seen.append(1.0 - sum(comparing.f1(boxes, kept) for boxes in moved) / 2)

    def compare(self, ours: Outputs, plain: Outputs) -> None:
        """Note how far a shadow run moved the scores that could make a box."""
        self.errors.append(detection.score_error(ours, plain))
        if not self.seen:
            self.saw(ours)

    def rescale(self, factor: float) -> None:
        """Carry what was seen over to errors that grew or shrank."""
        super().rescale(factor)
        scaled = [loss * factor**_POWER for loss in self.seen]
        self.seen.clear()
        self.seen.extend(scaled)

    def agreement(self, factor: float = 1.0) -> float:
        """Expected F1 of frames with the plain run's boxes."""
        drawn = max(0.0, 1.0 - float(np.mean(self.seen)) * factor**_POWER) if self.seen else 1.0
        return min(drawn, 1.0 - max(0.0, self.deviation() * factor - _CALM))


def doubt(task: str) -> Doubt:
    """What foretells disagreement for a task."""
    kinds: dict[str, type[Doubt]] = {"classification": Margins, "detection": Jitter}
    return kinds.get(task, Doubt)()
