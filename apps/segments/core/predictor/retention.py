"""The retention curve: how many viewers go on from each part of a video; the standby model."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from apps.segments.core.catalogue import Floats
from apps.segments.core.predictor.views import Path, View

BINS = 50
LEAN = 50.0  # viewers that the curve of all videos counts for beside a video's own
START_SEGMENTS = 10  # the first minute has a curve of its own, since that is where most leave


@dataclass(frozen=True)
class Retention:
    """The chance of going on to the next segment: by segment in the first minute, then by the part of the video."""

    first: Floats
    later: Floats
    name: str = "retention"

    @classmethod
    def fit(cls, views: Sequence[View], prior: float = 20.0, usual: float = 0.985) -> Retention:
        """Count who went on, with a prior of so many viewers at the usual chance."""
        tried, went = np.zeros((2, START_SEGMENTS + BINS))
        for view in views:
            bins = _bins(view.indices, view.length)
            follows = np.append(np.diff(view.indices) == 1, False)
            inside = view.indices < view.length - 1
            np.add.at(tried, bins[inside], 1.0)
            np.add.at(went, bins[inside], follows[inside])
        chance = (went + prior * usual) / (tried + prior)
        return cls(chance[:START_SEGMENTS], chance[START_SEGMENTS:])

    def onward(self, length: int) -> Floats:
        """Give the chance of going on from each segment of a video of `length` segments."""
        chances = np.concatenate([self.first, self.later])
        return np.asarray(chances[_bins(np.arange(length), length)], np.float64)

    def survival(self, length: int) -> Floats:
        """Give the share of starters who reach each segment: 1 at the first, falling."""
        return np.asarray(np.concatenate([[1.0], np.cumprod(self.onward(length)[:-1])]), np.float64)

    def predict(self, path: Path, count: int) -> Floats:
        """Multiply the chances along the way."""
        now = int(path.indices[-1])
        return np.asarray(np.cumprod(self.onward(path.length)[now : path.length - 1][:count]), np.float64)


def onward_of(views: Sequence[View], pooled: Floats) -> Floats:
    """Give the chance of going on from each segment of one video, from its own views.

    Counted over each segment's neighbourhood, leaning on the chances over all videos (`pooled`, one number a segment).
    """
    tried, went = np.zeros((2, len(pooled)))
    for view in views:
        np.add.at(tried, view.indices, 1.0)
        np.add.at(went, view.indices[:-1][np.diff(view.indices) == 1], 1.0)
    window = np.ones(min(5, len(pooled)))
    tried, went = np.convolve(tried, window, "same"), np.convolve(went, window, "same")
    return np.asarray((went + LEAN * pooled) / (tried + LEAN), np.float64)


def _bins(indices: np.typing.NDArray[np.int64], length: int) -> np.typing.NDArray[np.int64]:
    late = START_SEGMENTS + np.minimum(BINS - 1, indices * BINS // max(1, length))
    return np.where(indices < START_SEGMENTS, indices, late)
