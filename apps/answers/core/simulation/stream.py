"""Streams of real questions: classes and their prompts repeat with Zipf laws; the first part is history."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

HISTORY = 0.2
LENGTH = 12_000
EXPONENT = 0.8  # what proxies and search engines see (Breslau and others, 1999: 0.64 to 0.83)


@dataclass(frozen=True, slots=True)
class Stream:
    """A stream over distinct questions: `asked[t]` is the question of request t, `classes[i]` question i's class."""

    texts: Sequence[str]
    vectors: NDArray[np.float32]
    classes: NDArray[np.int64]
    asked: NDArray[np.int64]

    @property
    def history(self) -> NDArray[np.int64]:
        """Give the requests that build the static tier and tune the thresholds."""
        return self.asked[: int(len(self.asked) * HISTORY)]

    @property
    def measured(self) -> NDArray[np.int64]:
        """Give the requests that are measured."""
        return self.asked[int(len(self.asked) * HISTORY) :]


def draw(
    texts: Sequence[str], vectors: NDArray[np.float32], classes: NDArray[np.int64], seed: int, length: int = LENGTH
) -> Stream:
    """Draw a stream: popular classes and popular prompts are asked more often; the seed decides which are popular."""
    random = np.random.default_rng(seed)
    names = random.permutation(np.unique(classes))
    chosen = names[random.choice(len(names), length, p=_zipf(len(names), EXPONENT))]
    asked = np.empty(length, np.int64)
    for name in names:
        members = random.permutation(np.flatnonzero(classes == name))
        places = np.flatnonzero(chosen == name)
        asked[places] = members[random.choice(len(members), len(places), p=_zipf(len(members), EXPONENT))]
    distinct, renumbered = np.unique(asked, return_inverse=True)
    return Stream([texts[i] for i in distinct], vectors[distinct], classes[distinct], renumbered.astype(np.int64))


def medoids(stream: Stream, per_class: int) -> list[int]:
    """Choose the static tier from history: per class the questions nearest to all others, spread by k-medoids steps."""
    seen = np.unique(stream.history)
    chosen: list[int] = []
    for name in np.unique(stream.classes[seen]):
        members = seen[stream.classes[seen] == name]
        chosen += [int(members[place]) for place in _spread(stream.vectors[members], per_class)]
    return chosen


def _zipf(count: int, exponent: float) -> NDArray[np.float64]:
    weights = 1 / np.arange(1, count + 1) ** exponent
    return np.asarray(weights / weights.sum(), np.float64)


def _spread(vectors: NDArray[np.float32], count: int) -> list[int]:
    """Greedily choose rows so that every row has a chosen one near it."""
    similar = vectors @ vectors.T
    chosen: list[int] = []
    covered = np.full(len(vectors), -1.0, np.float32)
    for _ in range(min(count, len(vectors))):
        gain = np.maximum(similar, covered).sum(1)
        gain[chosen] = -np.inf
        best = int(gain.argmax())
        chosen.append(best)
        covered = np.maximum(covered, similar[best])
    return chosen
