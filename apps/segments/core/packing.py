"""Arrays as text, for a model's row in the database."""

from __future__ import annotations

import base64
import io
from collections.abc import Mapping
from typing import Any

import numpy as np
import numpy.typing as npt


def pack(arrays: Mapping[str, npt.NDArray[Any]]) -> str:
    """Write arrays of numbers, in single precision, as one text."""
    packed = io.BytesIO()
    single: Any = {name: each.astype(np.float32) for name, each in arrays.items()}
    np.savez_compressed(packed, **single)
    return base64.b64encode(packed.getvalue()).decode()


def unpack(text: str) -> dict[str, npt.NDArray[np.float32]]:
    """Read what `pack` wrote; raises ValueError when it is not whole."""
    with np.load(io.BytesIO(base64.b64decode(text)), allow_pickle=False) as arrays:
        return {name: np.asarray(arrays[name], np.float32) for name in arrays.files}
