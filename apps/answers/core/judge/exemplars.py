"""What labels teach about their surroundings: questions already approved or refused stand around the golden tier.

A golden answer with one question covers little of how people ask for it. Every approved question is one more example
of its answer, every refused one a warning; a new question is measured against both (nearest neighbours over labels, as
in Cover and Hart, 1967, used as features of the judge's regression).
"""

from __future__ import annotations

from collections.abc import Hashable, Sequence

import numpy as np
from numpy.typing import NDArray

NOTHING_NEAR = 0.0
SAME_TEXT = 1 - 1e-5


class Exemplars:
    """Labelled questions as vectors (n, d) of length 1, the golden answer each was compared with, and the verdict."""

    def __init__(self, vectors: NDArray[np.float32], answers: Sequence[Hashable], same: Sequence[bool]) -> None:
        self.vectors = vectors
        self.same = np.array(same, bool)
        self._numbers: dict[Hashable, int] = {}
        self._answers = np.array([self._numbers.setdefault(answer, len(self._numbers)) for answer in answers], int)

    def features(
        self,
        vector: NDArray[np.float32],
        answer: Hashable,
        similarity: float,
        margin: float | None,
        *,
        labelled: bool = False,
    ) -> dict[str, float]:
        """Measure a question against the labels.

        Args:
            vector: the question's, of length 1.
            answer: the golden answer it might get.
            similarity: cosine to that answer's nearest golden question.
            margin: how much nearer that is than the nearest golden question with another answer.
            labelled: the question is itself one of the labels, so what was said of it is left out.

        Returns:
            `support`: similarity to the nearest example of this answer, golden or approved;
            `support_margin`: how much nearer that is than the nearest example of any other answer;
            `refuted`: similarity to the nearest question this answer was refused for, 0 when there is none.
        """
        near = self.vectors @ vector if len(self.vectors) else np.empty(0, np.float32)
        mine = self._answers == self._numbers.get(answer, -1)
        counted = near < SAME_TEXT if labelled else np.ones(len(near), bool)
        own = _nearest(near, counted & self.same & mine)
        rival = _nearest(near, counted & self.same & ~mine)
        if margin is not None:
            rival = max(rival, similarity - margin)
        support = max(similarity, own)
        refuted = _nearest(near, counted & ~self.same & mine)
        return {"support": support, "support_margin": support - rival, "refuted": refuted}


def _nearest(near: NDArray[np.float32], chosen: NDArray[np.bool_]) -> float:
    return float(near[chosen].max()) if chosen.any() else NOTHING_NEAR
