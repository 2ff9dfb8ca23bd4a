"""Video files come from strangers: a child process decodes them, and anything wrong is a VideoError."""

import json
import os
import select
import struct
import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import IO

import numpy as np
import numpy.typing as npt

from apps.inference.core import decoding

PATIENCE_S = 60.0
_ROOT = Path(__file__).resolve().parents[3]
fit = decoding.fit

Image = npt.NDArray[np.uint8]


class VideoError(ValueError):
    """The file cannot be decoded; the message says why in plain words."""


@dataclass(frozen=True)
class Info:
    """What a container says of its first video stream; frames is 0 when it does not say."""

    width: int
    height: int
    frames: int
    rate: float
    codec: str


def probe(path: str | Path) -> Info:
    """The stream's facts, read in a child process; VideoError if there is no picture in the file."""
    with _child("probe", str(path)) as pipe:
        return Info(**json.loads(_next(pipe) or b""))


def frames(path: str | Path, height: int, width: int, *, every: int = 1, limit: int = 0) -> Iterator[Image]:
    """RGB frames (height, width, 3) of a file; the child decodes the next one while the caller works on this one.

    VideoError for a file that is broken, breaks off, has no picture or no frame, or is larger than 8192 a side; a
    frame whose size differs from the others is resized like them. `every` keeps each n-th, `limit` 0 is no limit.
    """
    arguments = (str(path), str(height), str(width), str(every), str(limit))
    with _child("decode", *arguments) as pipe:
        while (data := _next(pipe)) is not None:
            yield np.frombuffer(data, dtype=np.uint8).reshape(height, width, 3)


@contextmanager
def _child(*arguments: str) -> Iterator[IO[bytes]]:
    """A decoder process, killed when the caller stops reading; it inherits no secrets from the environment."""
    kept = {k: v for k, v in os.environ.items() if k in ("PATH", "LANG", "LD_LIBRARY_PATH", "SYSTEMROOT", "TMPDIR")}
    process = subprocess.Popen(  # noqa: S603
        [sys.executable, "-m", "apps.inference.core.decoding", *arguments],
        cwd=_ROOT, env={**kept, "OMP_NUM_THREADS": "1"}, stdin=subprocess.DEVNULL, stdout=subprocess.PIPE,
        stderr=subprocess.DEVNULL,
    )  # fmt: skip
    assert process.stdout is not None
    decoding.widen(process.stdout.fileno())
    try:
        yield process.stdout
    finally:
        process.kill()
        process.wait()
        process.stdout.close()


def _next(pipe: IO[bytes]) -> bytes | None:
    """The next message's payload, None at the end; VideoError when the child says so, dies or stalls."""
    head = _read(pipe, 5)
    kind, size = struct.unpack("<BI", head)
    body = _read(pipe, size)
    if kind == decoding.ERROR:
        raise VideoError(body.decode())
    return None if kind == decoding.END else body


def _read(pipe: IO[bytes], size: int) -> bytes:
    data = bytearray(size)
    view, at = memoryview(data), 0
    while at < size:
        if not select.select([pipe], [], [], PATIENCE_S)[0]:
            raise VideoError("the decoder made no progress for a minute")
        got = os.readv(pipe.fileno(), [view[at:]])
        if not got:
            raise VideoError("the decoder died on this file")
        at += got
    return bytes(data) if size < 4096 else data  # type: ignore[return-value]
