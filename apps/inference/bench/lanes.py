"""One engine on one clip: run a frame, and note what it took and how right it was."""

import time
from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Literal

import numpy as np
import numpy.typing as npt

from apps.inference.bench import eager
from apps.inference.core import calibration, comparing, engine

Image = npt.NDArray[np.uint8]
Run = Callable[[Image], tuple[engine.Outputs, engine.FrameResult | None]]
SKIPS = (2, 3, 5)


@dataclass
class Lane:
    """One engine's frames: times in seconds, agreement and errors against the plain run."""

    run: Run
    cpu: list[float] = field(default_factory=list)
    wall: list[float] = field(default_factory=list)
    agreement: list[float] = field(default_factory=list)
    error: list[float] = field(default_factory=list)
    results: list[engine.FrameResult] = field(default_factory=list)
    memory: Callable[[], int] = lambda: 0
    every: int = 1
    kept: engine.Outputs = field(default_factory=dict)

    def step(self, image: Image) -> engine.Outputs:
        """Run one frame and note what it took."""
        cpu, wall = time.process_time(), time.perf_counter()
        outputs, result = self.run(image)
        self.cpu.append(time.process_time() - cpu)
        self.wall.append(time.perf_counter() - wall)
        if result is not None:
            self.results.append(result)
        return outputs

    def skip(self, plain: "Lane", outputs: engine.Outputs) -> engine.Outputs:
        """Take the plain run's result and times on every n-th frame, the last result for nothing on the others.

        Running the plain engine again for the same frame would tell the same and cost the benchmark twice.
        """
        runs = len(self.cpu) % self.every == 0
        self.cpu.append(plain.cpu[-1] if runs else 0.0)
        self.wall.append(plain.wall[-1] if runs else 0.0)
        self.kept = outputs if runs else self.kept
        return self.kept

    def check(self, task: str, ours: engine.Outputs, plain: engine.Outputs) -> None:
        """Note how a frame's result agrees with the plain run's."""
        self.agreement.append(comparing.agreement(task, ours, plain))
        self.error.append(engine.relative_error(ours, plain))


def lanes(name: str, task: str, model: engine.Model) -> dict[str, Lane]:
    """Every engine of the benchmark, by its name in the rows."""
    found = {"onnxruntime": Lane(lambda image: (model.plain.frame(image), None))}
    found["eager"] = Lane(_eager(name, model))
    found |= {f"skip{every}": Lane(lambda image: ({}, None), every=every) for every in SKIPS}
    modes: tuple[Literal["exact", "budget"], ...] = ("exact", "budget")
    for mode in modes:
        cached = engine.Engine(model, *model.plain.size[1:], engine.Settings(mode=mode))
        found[mode] = Lane(_cached(calibration.Watched(cached, task)), memory=cached.memory_bytes)
    return found


def drive(found: dict[str, Lane], task: str, image: Image) -> None:
    """One frame through all engines, one after the other."""
    plain = found["onnxruntime"].step(image)
    for key, lane in found.items():
        if key == "onnxruntime":
            ours = plain
        else:
            ours = lane.skip(found["onnxruntime"], plain) if lane.every > 1 else lane.step(image)
        lane.check(task, ours, plain)


def _cached(watched: calibration.Watched) -> Run:
    def step(image: Image) -> tuple[engine.Outputs, engine.FrameResult]:
        result, _ = watched.frame(image)
        return result.outputs, result

    return step


def _eager(name: str, model: engine.Model) -> Run:
    run = eager.runner(name, model.plain.graph, *model.plain.size[1:])

    def step(image: Image) -> tuple[engine.Outputs, None]:
        return run(eager.planes(image, model.table)), None

    return step
