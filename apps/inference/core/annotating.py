"""The annotated video: every frame of a file again, with its boxes, through ffmpeg's own process."""

import subprocess
from collections.abc import Callable, Iterable
from pathlib import Path
from typing import Any

import imageio_ffmpeg

from apps.inference.core import drawing, video

WIDEST = 1280
Boxes = list[dict[str, Any]]


class AnnotateError(RuntimeError):
    """ffmpeg could not write the video; the message is its own."""


def even(info: video.Info) -> tuple[int, int]:
    """(width, height) to write: the video's own or smaller, even as H.264 wants them."""
    factor = min(1.0, WIDEST / max(info.width, info.height, 1))
    return tuple(max(2, round(side * factor / 2) * 2) for side in (info.width, info.height))  # type: ignore[return-value]


def annotate(
    source: Path, target: Path, info: video.Info, found: Iterable[Boxes], go_on: Callable[[], bool] = lambda: True
) -> bool:
    """Write an MP4 with the boxes of each frame, which are in the video's own pixels; False when told to stop."""
    width, height = even(info)
    factor = width / max(info.width, 1), height / max(info.height, 1)
    process = subprocess.Popen(  # noqa: S603
        [imageio_ffmpeg.get_ffmpeg_exe(), *_options(width, height, info.rate), str(target)],
        stdin=subprocess.PIPE, stdout=subprocess.DEVNULL, stderr=subprocess.PIPE,
    )  # fmt: skip
    assert process.stdin is not None and process.stderr is not None
    try:
        for image, boxes in zip(video.frames(source, height, width), found, strict=False):
            if not go_on():
                return False
            process.stdin.write(drawing.with_boxes(image, [_scaled(box, factor) for box in boxes]).tobytes())
        process.stdin.close()
        said = process.stderr.read().decode(errors="replace")
        if process.wait(120):
            raise AnnotateError(said.strip()[-300:])
        return True
    except BrokenPipeError as error:
        raise AnnotateError(process.stderr.read().decode(errors="replace").strip()[-300:]) from error
    finally:
        process.kill()
        process.wait()
        process.stderr.close()


def _options(width: int, height: int, rate: float) -> list[str]:
    speed = f"{rate:.4f}" if 1 <= rate <= 240 else "25"
    raw = ["-f", "rawvideo", "-pix_fmt", "rgb24", "-s", f"{width}x{height}", "-r", speed, "-i", "-"]
    written = ["-c:v", "libx264", "-preset", "veryfast", "-pix_fmt", "yuv420p", "-threads", "1"]
    return ["-y", "-loglevel", "error", *raw, *written, "-movflags", "+faststart", "-f", "mp4"]


def _scaled(box: dict[str, Any], factor: tuple[float, float]) -> dict[str, Any]:
    across, down = factor
    x0, y0, x1, y1 = box["box"]
    return {**box, "box": [x0 * across, y0 * down, x1 * across, y1 * down]}
