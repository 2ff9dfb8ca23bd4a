"""The gate: a model serves only if it beats the retention curve on viewers it has never seen."""

from __future__ import annotations

import time
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from apps.segments.core.catalogue import Floats
from apps.segments.core.predictor.views import MODEL_SEGMENTS, Path, Predictor, View, examples

FALLBACK_MS = 200.0  # slower than this, the retention curve answers instead


@dataclass(frozen=True)
class Verdict:
    """Held-out log-loss (nats a segment) of a model and of the retention curve, and how long a prediction takes."""

    loss: float
    baseline: float
    p99_ms: float
    examples: int

    @property
    def serves(self) -> bool:
        """Say whether the model may serve."""
        return bool(self.loss < self.baseline and self.p99_ms <= FALLBACK_MS)


def judge(
    model: Predictor, baseline: Predictor, held_out: Sequence[View], count: int = MODEL_SEGMENTS, most: int = 4000
) -> Verdict:
    """Compare a model with the baseline on the same decisions of held-out viewers.

    Raises ValueError when there is no decision to compare on.
    """
    cases = list(examples(held_out, count))
    cases = cases[:: max(1, len(cases) // most)]
    if not cases:
        raise ValueError("There are no held-out views to judge on.")
    took: list[float] = []
    found: list[Floats] = []
    for path, _ in cases:
        before = time.perf_counter()
        found.append(model.predict(path, count))
        took.append(time.perf_counter() - before)
    labels = [label for _, label in cases]
    theirs = [baseline.predict(path, count) for path, _ in cases]
    p99 = float(np.percentile(took, 99)) * 1000
    return Verdict(log_loss(found, labels), log_loss(theirs, labels), p99, len(cases))


def log_loss(found: Sequence[Floats], labels: Sequence[Floats]) -> float:
    """Average the log-loss over all segments, in nats; probabilities are kept off 0 and 1 by 1e-4."""
    chance = np.clip(np.concatenate(list(found)), 1e-4, 1 - 1e-4)
    label = np.concatenate(list(labels))
    return float(-np.mean(label * np.log(chance) + (1 - label) * np.log(1 - chance)))


def answer(model: Predictor, standby: Predictor, path: Path, count: int) -> tuple[str, Floats]:
    """Predict with the model; the standby answers when the model fails or took longer than 200 ms."""
    before = time.perf_counter()
    try:
        found = model.predict(path, count)
    except Exception:
        return standby.name, standby.predict(path, count)
    if (time.perf_counter() - before) * 1000 > FALLBACK_MS:
        return standby.name, standby.predict(path, count)
    return model.name, found
