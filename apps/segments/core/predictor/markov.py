"""A Markov chain over steps: the last step and the part of the video say which step comes next."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from apps.segments.core.catalogue import Floats
from apps.segments.core.predictor.views import Path, View

# Steps in segments, as classes; the last class is the end of the view.
EDGES = np.array([-30, -10, -3, 0, 1, 2, 4, 11, 31])
TYPICAL = np.array([-60, -18, -6, -1, 0, 1, 2, 6, 18, 60])
NEXT = 5  # the class of going on by one
STATES = len(TYPICAL) + 1
END = STATES - 1
BINS = 10


@dataclass(frozen=True)
class Markov:
    """Chances of the next class of step, by part of the video and last class: BINS x STATES x STATES."""

    chances: Floats
    name: str = "markov"

    @classmethod
    def fit(cls, views: Sequence[View], prior: float = 5.0) -> Markov:
        """Count steps; where little was seen, lean on the chances over the whole video."""
        counts = np.zeros((BINS, STATES, STATES))
        for view in views:
            steps = classes(view.indices)
            after = np.append(steps[1:], END)
            bins = np.minimum(BINS - 1, view.indices * BINS // max(1, view.length))
            inside = view.indices < view.length - 1
            np.add.at(counts, (bins[inside], steps[inside], after[inside]), 1.0)
        whole = counts.sum(0) + 0.01
        whole /= whole.sum(1, keepdims=True)
        return cls((counts + prior * whole) / (counts.sum(2, keepdims=True) + prior))

    def predict(self, path: Path, count: int) -> Floats:
        """Follow the chance of playing straight on; after a jump back, count on playing over the gap again."""
        now, length = int(path.indices[-1]), path.length
        ahead = min(count, length - 1 - now)
        state, reach = int(classes(path.indices[-2:])[-1]), 1.0
        found = np.zeros(max(0, ahead))
        for step in range(ahead):
            chances = self.chances[min(BINS - 1, (now + step) * BINS // length), state]
            for kind in range(len(TYPICAL)):
                landing = step + int(TYPICAL[kind]) - 1
                if kind > NEXT and landing < ahead:
                    found[landing:] += reach * chances[kind] * 0.9 ** np.arange(ahead - landing)
            reach *= float(chances[NEXT])
            found[step] += reach
            state = NEXT
        return np.asarray(np.clip(found, 1e-4, 1 - 1e-4), np.float64)


def classes(indices: npt.NDArray[np.int64]) -> npt.NDArray[np.int64]:
    """Give the class of the step that led to each segment; the first one counts as going on."""
    found = np.full(len(indices), NEXT, np.int64)
    found[1:] = np.searchsorted(EDGES, np.diff(indices), side="right")
    return found
