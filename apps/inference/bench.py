"""The benchmark's door: every engine on the same frames, one after the other (measure.md, Inference)."""

import time
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Literal

import numpy as np
import numpy.typing as npt

from apps.inference.core import calibration, engine, graph, models, video
from apps.inference.core.models import shipped

Image = npt.NDArray[np.uint8]
Run = Callable[[Image, int], tuple[engine.Outputs, engine.FrameResult | None]]
SIZES = {360: (352, 640), 720: (704, 1280)}
QUICK_CLIPS = ("vtest.avi", "intel_one_by_one_person.mp4", "udacity_solidWhiteRight.mp4")
MODELS = ("efficientnet-lite0", "resnet18", "text-detector")


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

    def step(self, image: Image, number: int) -> engine.Outputs:
        """Run one frame and note what it took."""
        cpu, wall = time.process_time(), time.perf_counter()
        outputs, result = self.run(image, number)
        self.cpu.append(time.process_time() - cpu)
        self.wall.append(time.perf_counter() - wall)
        if result is not None:
            self.results.append(result)
        return outputs


def run(
    data_dir: Path,
    *,
    quick: bool = False,
    frames: int | None = None,
    heights: tuple[int, ...] = (360, 720),
    names: tuple[str, ...] = MODELS,
    say: Callable[[str], None] = lambda line: None,
) -> list[dict[str, Any]]:
    """Rows as measure.md names them, for every clip in a folder, model, height and engine."""
    count = frames or (60 if quick else 300)
    rows: list[dict[str, Any]] = []
    for name in names:
        loaded = graph.load(models.build(name))
        for height in heights[:1] if quick else heights:
            model = engine.Model(loaded, *SIZES[height], _pixels(name))
            for clip in _clips(data_dir, quick=quick):
                lanes = _lanes(name, model)
                _drive(lanes, clip, model, _task(name), count)
                rows += [_row(clip, name, height, key, lane, lanes) for key, lane in lanes.items()]
                say(f"{clip.name} {name} {height}p: " + _words(rows[-len(lanes) :]))
    return rows


def _clips(data_dir: Path, *, quick: bool) -> list[Path]:
    found = sorted(p for p in data_dir.iterdir() if p.suffix.lower() in (".avi", ".mp4", ".webm", ".mkv", ".mov"))
    chosen = [p for p in found if p.name in QUICK_CLIPS] if quick else found
    return chosen or found


def _pixels(name: str) -> engine.Pixels:
    known = models.SHIPPED.get(name)
    return engine.Pixels(known.mean, known.std) if known else engine.Pixels(*shipped.IMAGENET)


def _task(name: str) -> str:
    known = models.SHIPPED.get(name)
    return known.task if known else "classification"


def _lanes(name: str, model: engine.Model) -> dict[str, Lane]:
    size = model.plain.size[1:]
    lanes = {"onnxruntime": Lane(lambda image, _: (model.plain.frame(image), None))}
    eager = _eager(name, model)
    if eager is not None:
        lanes["eager"] = Lane(eager)
    for every in (2, 3, 5):
        lanes[f"skip{every}"] = Lane(_skipping(model, every))
    modes: tuple[Literal["exact", "budget"], ...] = ("exact", "budget")
    for mode in modes:
        cached = engine.Engine(model, *size, engine.Settings(mode=mode))
        lanes[mode] = Lane(_cached(calibration.Watched(cached, _task(name))), memory=cached.memory_bytes)
    return lanes


def _cached(watched: calibration.Watched) -> Run:
    def step(image: Image, _: int) -> tuple[engine.Outputs, engine.FrameResult]:
        result, _agreement = watched.frame(image)
        return result.outputs, result

    return step


def _skipping(model: engine.Model, every: int) -> Run:
    kept: list[engine.Outputs] = []

    def step(image: Image, number: int) -> tuple[engine.Outputs, None]:
        if number % every == 0 or not kept:
            kept[:] = [model.plain.frame(image)]
        return kept[0], None

    return step


def _eager(name: str, model: engine.Model) -> Run | None:
    """The torch module itself, one thread; None for a model that exists as ONNX only."""
    if name not in ("efficientnet-lite0", "resnet18"):
        return None
    import torch

    torch.set_num_threads(1)
    module = models.module(name)
    table = torch.from_numpy(model.table)
    output = model.plain.names[0]

    def step(image: Image, _: int) -> tuple[engine.Outputs, None]:
        with torch.inference_mode():
            planes = np.ascontiguousarray(image.transpose(2, 0, 1)).reshape(3, -1)
            x = torch.gather(table, 1, torch.from_numpy(planes).long()).reshape(1, 3, *image.shape[:2])
            return {output: module(x).numpy()}, None

    return step


def _drive(lanes: dict[str, Lane], clip: Path, model: engine.Model, task: str, count: int) -> None:
    for number, image in enumerate(_images(clip, model, count)):
        plain = lanes["onnxruntime"].step(image, number)
        for key, lane in lanes.items():
            ours = plain if key == "onnxruntime" else lane.step(image, number)
            lane.agreement.append(calibration.agreement(task, ours, plain))
            lane.error.append(engine.relative_error(ours, plain))


def _images(clip: Path, model: engine.Model, count: int) -> Iterator[Image]:
    yield from video.frames(clip, *model.plain.size[1:], limit=count)


def _row(clip: Path, name: str, height: int, key: str, lane: Lane, lanes: dict[str, Lane]) -> dict[str, Any]:
    # The first frame fills caches and warms every engine; it is run and checked, not timed.
    cpu, wall = 1e3 * np.array(lane.cpu[1:]), 1e3 * np.array(lane.wall[1:])
    seen = lane.results[1:]
    return {
        "clip": clip.name,
        "model": name,
        "height": height,
        "engine": key,
        "frames": len(lane.cpu),
        "cpu_p50_ms": _round(np.percentile(cpu, 50)),
        "cpu_p95_ms": _round(np.percentile(cpu, 95)),
        "wall_p50_ms": _round(np.percentile(wall, 50)),
        "wall_p95_ms": _round(np.percentile(wall, 95)),
        "over_onnxruntime": _ratio(lanes["onnxruntime"], lane),
        "over_eager": _ratio(lanes["eager"], lane) if "eager" in lanes else None,
        "agreement": _round(np.mean(lane.agreement)),
        "max_relative_error": float(f"{max(lane.error):.3g}"),
        "work_share": _round(np.mean([r.work_share for r in seen])) if seen else None,
        "dirty_share": _round(np.mean([r.dirty_share for r in seen])) if seen else None,
        "bail_outs": sum(r.bail_out for r in seen) if seen else None,
        "memory_mb": _round(lane.memory() / 1e6) if seen else None,
    }


def _ratio(base: Lane, lane: Lane) -> float:
    """Speed-up in CPU time over all frames but the first."""
    return _round(sum(base.cpu[1:]) / max(sum(lane.cpu[1:]), 1e-9))


def _round(value: Any) -> float:
    return round(float(value), 4)


def _words(rows: list[dict[str, Any]]) -> str:
    return ", ".join(f"{r['engine']} {r['over_onnxruntime']:.2f}x ({r['agreement']:.3f})" for r in rows)
