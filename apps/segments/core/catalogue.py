"""What an edge may hold, in rows: one row for each segment of each rendition of each video."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from enum import IntEnum
from functools import cached_property

import numpy as np
import numpy.typing as npt

Floats = npt.NDArray[np.float64]
Ints = npt.NDArray[np.int64]
Bools = npt.NDArray[np.bool_]
SEGMENT_S = 6.0


class Kind(IntEnum):
    """What sort of video it is."""

    EDUCATION = 0
    FILM = 1
    SPORT = 2
    SHORT = 3
    LIVE = 4


@dataclass(frozen=True)
class Catalogue:
    """Videos as arrays: row = base[video] + rendition * lengths[video] + index.

    `lengths` (segments) and `renditions` have one number a video, `sizes` (bytes) one a row; `kinds` one a video.
    """

    lengths: Ints
    renditions: Ints
    sizes: Ints
    kinds: Ints = field(default_factory=lambda: np.zeros(0, np.int64))
    segment_s: float = SEGMENT_S

    def __post_init__(self) -> None:
        if len(self.lengths) != len(self.renditions) or min([*self.lengths, *self.renditions], default=1) < 1:
            raise ValueError("Every video needs a length and a number of renditions of at least 1.")
        if int((self.lengths * self.renditions).sum()) != len(self.sizes):
            raise ValueError("There must be one size for each row.")
        if not len(self.kinds):
            object.__setattr__(self, "kinds", np.zeros(len(self.lengths), np.int64))

    @cached_property
    def base(self) -> Ints:
        """Give each video's first row, and the number of rows at the end (videos + 1)."""
        return np.concatenate([[0], np.cumsum(self.lengths * self.renditions)]).astype(np.int64)

    @cached_property
    def place(self) -> Ints:
        """Give each video's first place in arrays with one number a segment, whatever the rendition (videos + 1)."""
        return np.concatenate([[0], np.cumsum(self.lengths)]).astype(np.int64)

    @cached_property
    def video(self) -> Ints:
        """Give each row's video."""
        return np.repeat(np.arange(len(self.lengths)), self.lengths * self.renditions)

    @cached_property
    def index(self) -> Ints:
        """Give each row's segment, counted within its video."""
        return (np.arange(len(self.sizes)) - self.base[self.video]) % self.lengths[self.video]

    @cached_property
    def rendition(self) -> Ints:
        """Give each row's rendition, 0 the smallest."""
        return (np.arange(len(self.sizes)) - self.base[self.video]) // self.lengths[self.video]

    def row(self, video: int, index: int, rendition: int) -> int:
        """Find the row of a segment; raises IndexError when there is none."""
        if not (
            0 <= video < len(self.lengths)
            and 0 <= index < self.lengths[video]
            and 0 <= rendition < self.renditions[video]
        ):
            raise IndexError(f"There is no segment {index} in rendition {rendition} of video {video}.")
        return int(self.base[video] + rendition * self.lengths[video] + index)


def of(lengths: Sequence[int], renditions: Sequence[int], sizes: Sequence[int]) -> Catalogue:
    """Build a catalogue from plain lists."""
    return Catalogue(np.array(lengths, np.int64), np.array(renditions, np.int64), np.array(sizes, np.int64))
