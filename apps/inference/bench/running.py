"""The benchmark's door: every engine on the same frames, one after the other (measure.md, Inference)."""

from collections.abc import Callable, Iterator, Sequence
from pathlib import Path
from typing import Any

import numpy as np

from apps.inference.bench import lanes as engines
from apps.inference.bench.lanes import Lane
from apps.inference.core import engine, graph, models, video
from apps.inference.core.models import shipped

SIZES = {360: (352, 640), 720: (704, 1280)}
QUICK_CLIPS = ("vtest.avi", "intel_one_by_one_person.mp4", "udacity_solidWhiteRight.mp4")
MODELS = PARTS = ("efficientnet-lite0", "resnet18", "text-detector")
Row = dict[str, Any]
Say = Callable[[str], None]


def run(
    data: Path,
    names: Sequence[str] = MODELS,
    *,
    quick: bool = False,
    frames: int | None = None,
    heights: Sequence[int] = (360, 720),
    clips: Sequence[str] = (),
    say: Say = lambda line: None,
) -> Iterator[Row]:
    """Yield the rows of every clip in a folder, model, height and engine.

    Args:
        data: a folder of video files.
        names: some of MODELS.
        quick: few clips, few frames, the smaller height.
        frames: at most so many of each clip.
        heights: of 360 and 720.
        clips: names of files; all when empty.
        say: told what is being done, and what the rows do not hold: the cost of matching and of masks, and how near
            the predicted memory is.
    """
    count = frames or (90 if quick else 300)
    for name in names:
        loaded = graph.load(models.build(name))
        for height in heights[:1] if quick else heights:
            model = engine.Model(loaded, *SIZES[height], _pixels(name))
            promised = graph.analyse(loaded, *SIZES[height]).cache_bytes
            for clip in _clips(data, clips or (QUICK_CLIPS if quick else ())):
                found = engines.lanes(name, _task(name), model)
                for image in video.frames(clip, *SIZES[height], limit=count):
                    engines.drive(found, _task(name), image)
                rows = [_row(clip, name, height, key, lane, found) for key, lane in found.items()]
                say(f"{clip.name} {name} {height}p: {_words(rows)}\n    {_costs(found, promised)}")
                yield from rows


def _clips(data: Path, chosen: Sequence[str]) -> list[Path]:
    found = sorted(p for p in data.iterdir() if p.suffix.lower() in (".avi", ".mp4", ".webm", ".mkv", ".mov"))
    return [p for p in found if p.name in chosen] or found


def _costs(found: dict[str, Lane], promised: int) -> str:
    """What the product promises beside the table: matching and masks in milliseconds a frame, memory."""
    seen = [r.timings_ms for r in found["budget"].results[1:]]
    match, masks = ([t[part] for t in seen if part in t] or [0.0] for part in ("match", "predict"))
    memory = found["exact"].memory()
    return (
        f"budget: matching {np.median(match):.2f} ms, masks {np.median(masks):.2f} ms of wall time a frame; "
        f"exact: {memory / 1e6:.0f} MB, {promised / 1e6:.0f} MB predicted"
    )


def _pixels(name: str) -> engine.Pixels:
    known = models.SHIPPED.get(name)
    return engine.Pixels(known.mean, known.std) if known else engine.Pixels(*shipped.IMAGENET)


def _task(name: str) -> str:
    known = models.SHIPPED.get(name)
    return known.task if known else "classification"


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
