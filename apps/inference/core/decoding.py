"""The decoder's own process: `python -m apps.inference.core.decoding decode PATH HEIGHT WIDTH EVERY LIMIT`.

Writes messages (one byte of kind, four of length, payload) to standard output. A crash here hurts nobody else.
"""

import contextlib
import fcntl
import json
import os
import resource
import struct
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import av
import cv2
import numpy as np
import numpy.typing as npt

FRAME, END, ERROR = range(3)
MAX_SIDE = 8192
MAX_PIXELS = 64 * 2**20
MAX_MEMORY = 6 * 2**30
_PIPE_BYTES = 2**20

Image = npt.NDArray[np.uint8]


class Refused(ValueError):
    """This file is not decoded; the message says why."""


def fit(image: Image, height: int, width: int) -> Image:
    """The image resized to (height, width, 3); unchanged when it has that size."""
    if image.shape[:2] == (height, width):
        return np.ascontiguousarray(image)
    shrink = image.shape[0] * image.shape[1] > height * width
    how = cv2.INTER_AREA if shrink else cv2.INTER_LINEAR
    return np.asarray(cv2.resize(image, (width, height), interpolation=how), dtype=np.uint8)


def widen(descriptor: int) -> None:
    """Let a pipe hold about one frame, so that the writer can go on decoding."""
    with contextlib.suppress(OSError, AttributeError):
        fcntl.fcntl(descriptor, fcntl.F_SETPIPE_SZ, _PIPE_BYTES)


def _send(kind: int, payload: bytes | memoryview) -> None:
    out = sys.stdout.buffer
    out.write(struct.pack("<BI", kind, len(payload)))
    out.write(payload)
    out.flush()


def _open(path: str) -> Any:
    if not Path(path).is_file():
        raise Refused(f"no such file: {Path(path).name}")
    if Path(path).stat().st_size == 0:
        raise Refused("the file is empty")
    try:
        container = av.open(path)
    except (av.FFmpegError, OSError, ValueError) as error:
        raise Refused("the file is not a video, or is broken") from error
    if not container.streams.video:
        raise Refused("the file has no picture (sound only?)")
    context = container.streams.video[0].codec_context
    _check_size(context.width, context.height)
    return container


def _check_size(width: int, height: int) -> None:
    if width > MAX_SIDE or height > MAX_SIDE or width * height > MAX_PIXELS:
        raise Refused(f"the picture is {width}x{height}; at most {MAX_SIDE} a side and {MAX_PIXELS} pixels are taken")


def _probe(path: str) -> None:
    with _open(path) as container:
        stream, context = container.streams.video[0], container.streams.video[0].codec_context
        facts = {"width": context.width, "height": context.height, "frames": int(stream.frames)}
        _send(FRAME, json.dumps({**facts, "rate": float(stream.average_rate or 0), "codec": context.name}).encode())


def _decode(path: str, height: int, width: int, every: int, limit: int) -> None:
    count = 0
    with _open(path) as container:
        container.streams.video[0].thread_count = 1
        for number, frame in enumerate(_pictures(container)):
            if number % every:
                continue
            _check_size(frame.width, frame.height)
            _send(FRAME, memoryview(fit(frame.to_ndarray(format="rgb24"), height, width).data).cast("B"))
            count += 1
            if count == limit:
                break
    if not count:
        raise Refused("the file has no frame that can be decoded")
    _send(END, b"")


def _pictures(container: Any) -> Iterator[Any]:
    """Frames until the end; Refused after the last good one when the file breaks off."""
    count, seconds = 0, 0.0
    try:
        for frame in container.decode(video=0):
            count += 1
            seconds = max(seconds, float(frame.time or 0.0))
            yield frame
    except (av.FFmpegError, OSError) as error:
        raise Refused(f"the file breaks off after {count} frames") from error
    promised = _promised_seconds(container)
    if seconds < 0.9 * promised - 0.5:
        raise Refused(f"the file breaks off after {count} frames, at {seconds:.1f} of {promised:.1f} seconds")


def _promised_seconds(container: Any) -> float:
    """How long the picture lasts by the file's own account; 0 when it does not say."""
    stream = container.streams.video[0]
    start = float((stream.start_time or 0) * stream.time_base)
    if stream.duration:
        return start + float(stream.duration * stream.time_base)
    return float(container.duration or 0) / av.time_base if len(container.streams) == 1 else 0.0


def main(arguments: list[str]) -> None:
    """Run one request; whatever goes wrong is told as a message."""
    resource.setrlimit(resource.RLIMIT_AS, (MAX_MEMORY, MAX_MEMORY))
    av.logging.set_level(None)
    try:
        if arguments[0] == "probe":
            _probe(arguments[1])
        else:
            _decode(arguments[1], *(int(a) for a in arguments[2:6]))
    except BrokenPipeError:
        os._exit(0)
    except Refused as error:
        _send(ERROR, str(error).encode())
    except Exception as error:
        _send(ERROR, f"the file cannot be decoded: {str(error)[:200] or type(error).__name__}".encode())


if __name__ == "__main__":
    main(sys.argv[1:])
