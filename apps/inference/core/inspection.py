"""Networks come from strangers: a child process reads and analyses them, and this side only reads its verdict."""

import json
import os
import subprocess
import sys
from dataclasses import dataclass
from pathlib import Path
from typing import Any

PATIENCE_S = 180.0
_ROOT = Path(__file__).resolve().parents[3]
_KEPT = ("PATH", "LANG", "LD_LIBRARY_PATH", "TMPDIR", "NUMBA_CACHE_DIR", "TOUCHSTONE_VAR")


class RefusedError(ValueError):
    """The file is not a network this cache accepts; the message says why in plain words."""


class SlowError(RuntimeError):
    """The check took longer than three minutes; it may pass later, when kernels are compiled."""


@dataclass(frozen=True)
class Found:
    """A network's input size, the names of its outputs, and what can be reused (graph.Analysis as JSON)."""

    height: int
    width: int
    outputs: tuple[str, ...]
    analysis: dict[str, Any]


def inspect(path: Path, height: int = 0, width: int = 0, patience_s: float = PATIENCE_S) -> Found:
    """Check and analyse an ONNX file; a size of 0 is taken from the file.

    Raises:
        RefusedError: it is broken, dangerous, or no convolutional network on pictures.
        SlowError: the check did not end in time.
    """
    kept = {name: value for name, value in os.environ.items() if name in _KEPT}
    command = [sys.executable, "-m", "apps.inference.core.checking", str(path), str(height), str(width)]
    environment = {**kept, "OMP_NUM_THREADS": "1", "OPENBLAS_NUM_THREADS": "1"}
    try:
        done = subprocess.run(  # noqa: S603
            command, cwd=_ROOT, env=environment, capture_output=True, timeout=patience_s, check=False
        )
    except subprocess.TimeoutExpired as error:
        raise SlowError("the check of this network took too long") from error
    told = _verdict(done.stdout)
    if "error" in told:
        raise RefusedError(told["error"])
    return Found(told["height"], told["width"], tuple(told["outputs"]), told["analysis"])


def _verdict(printed: bytes) -> dict[str, Any]:
    lines = printed.decode(errors="replace").strip().splitlines()
    try:
        return dict(json.loads(lines[-1]))
    except (IndexError, ValueError):
        return {"error": "the file cannot be read as a network: its check broke down"}
