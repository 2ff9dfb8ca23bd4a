"""What stands on slides, read by a network (PP-OCRv4 of PaddleOCR, through RapidOCR), once for each change of slide."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from functools import cache
from typing import Any

import numpy as np
import numpy.typing as npt

from apps.segments.core.captions import Cue
from apps.segments.core.catalogue import Bools

MOST_SLIDES = 300  # of one video; what changes more often is no slide show
SETTLED_S = 1.0  # a slide is read so long after it came, when what fades in is there
SURE = 0.6
WIDTH = 960
Picture = npt.NDArray[np.uint8]


def changes(cut: Bools) -> list[float]:
    """Give the seconds at which slides come, the first at 0; none where so much changes that it is no slide show.

    `cut` says for each second whether a slide begins.
    """
    if not len(cut):
        return []
    found = [0.0, *np.flatnonzero(cut).astype(float).tolist()]
    return found if len(found) <= MOST_SLIDES else []


def cues(came: list[float], ends: float, picture_at: Callable[[float], Picture | None]) -> Iterator[Cue]:
    """Read every slide.

    Args:
        came: when each came, in seconds.
        ends: when the last goes.
        picture_at: gives the picture at a moment, (height, width, 3) in BGR; None when there is none.
    """
    for start, end in zip(came, [*came[1:], ends], strict=True):
        picture = picture_at(min(start + SETTLED_S, (start + end) / 2))
        if picture is not None and (text := read(picture)):
            yield Cue(start, end, text)


def read(picture: Picture) -> str:
    """Read the text of a picture (height, width, 3; BGR), line by line; empty where there is none."""
    found, _took = _reader()(picture)
    return "\n".join(text for _box, text, sure in found or [] if float(sure) >= SURE)


@cache
def _reader() -> Any:
    """Load the networks, once in a process, on one thread."""
    from rapidocr_onnxruntime import RapidOCR  # half a second, and only where slides are read

    return RapidOCR(print_verbose=False, intra_op_num_threads=1, inter_op_num_threads=1)
