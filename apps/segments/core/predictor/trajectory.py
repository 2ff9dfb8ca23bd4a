"""The trajectory transformer: from a viewer's last steps to the chance of each coming segment.

A small encoder reads the last 16 segments that a viewer played (how they got to each, and where in the video it lies)
and corrects what the retention curve says of the next 20. Untrained it *is* the curve, so that training can only be
judged by what it adds. Weights are plain arrays: one forward pass serves numpy (predicting, anywhere) and torch
(training, in a worker only).
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np

from apps.segments.core.attention import attend, normal
from apps.segments.core.catalogue import Bools, Floats, Ints
from apps.segments.core.predictor.markov import STATES, classes
from apps.segments.core.predictor.retention import Retention
from apps.segments.core.predictor.views import MODEL_SEGMENTS, Path

HISTORY, WIDTH, HEADS, LAYERS, PLACES = 16, 32, 2, 2, 4


@dataclass(frozen=True)
class Inputs:
    """What the model reads of n paths, the newest step last.

    `step`: n x 16, the class of the step to each segment; `place`: n x 16 x 4, where it lies; `there`: n x 16, false
    before the first; `base`: n x 20, the retention curve's log-odds for the segments ahead.
    """

    step: Ints
    place: Floats
    there: Bools
    base: Floats


@dataclass(frozen=True)
class Trajectory:
    """A trained encoder on top of a retention curve."""

    weights: Mapping[str, Floats]
    curve: Retention
    name: str = "transformer"

    def predict(self, path: Path, count: int) -> Floats:
        """Give the chance of each of the next segments, at most 20 and none past the end."""
        ahead = max(0, min(count, MODEL_SEGMENTS, path.length - 1 - int(path.indices[-1])))
        inputs = read([path], self.curve)
        odds = forward(np, self.weights, inputs.step, inputs.place, inputs.there, inputs.base)[0, :ahead]
        return np.asarray(np.clip(1 / (1 + np.exp(-odds)), 1e-4, 1 - 1e-4), np.float64)


def read(paths: Iterable[Path], curve: Retention) -> Inputs:
    """Lay out paths as the model reads them."""
    rows = [_row(path, curve) for path in paths]
    step, place, there, base = (np.stack(column) for column in zip(*rows, strict=True))
    return Inputs(step, place, there, base)


def _row(path: Path, curve: Retention) -> tuple[Ints, Floats, Bools, Floats]:
    steps, indices = classes(path.indices)[-HISTORY:], path.indices[-HISTORY:]
    missing = HISTORY - len(indices)
    share = indices / max(1, path.length)
    # Where a segment lies: its share of the video, how much is left, the first minute, and how long the video is.
    place = np.stack([
        share, 1 - share, np.minimum(indices, 10) / 10, np.full(len(indices), np.log1p(path.length) / 6)
    ], axis=1)  # fmt: skip
    onward = np.clip(curve.predict(path, MODEL_SEGMENTS), 1e-4, 1 - 1e-4)
    base = np.zeros(MODEL_SEGMENTS)
    base[: len(onward)] = np.log(onward / (1 - onward))
    there = np.arange(HISTORY) >= missing
    return np.pad(steps, (missing, 0)), np.pad(place, ((missing, 0), (0, 0))), there, base


def initial(seed: int = 0) -> dict[str, Floats]:
    """Draw weights of a model that says what the retention curve says."""
    rng = np.random.default_rng(seed)

    def drawn(*shape: int) -> Floats:
        return rng.normal(0, shape[0] ** -0.5, shape)

    found = {
        "step": rng.normal(0, 0.3, (STATES, WIDTH)), "place": drawn(PLACES, WIDTH),
        "position": rng.normal(0, 0.1, (HISTORY, WIDTH)),
        "head": np.zeros((WIDTH, MODEL_SEGMENTS)), "bias": np.zeros(MODEL_SEGMENTS), "trust": np.ones(MODEL_SEGMENTS),
    }  # fmt: skip
    for layer in range(LAYERS):
        found |= {
            f"{layer}.ask": drawn(WIDTH, WIDTH), f"{layer}.key": drawn(WIDTH, WIDTH),
            f"{layer}.value": drawn(WIDTH, WIDTH), f"{layer}.out": drawn(WIDTH, WIDTH),
            f"{layer}.up": drawn(WIDTH, 2 * WIDTH), f"{layer}.down": drawn(2 * WIDTH, WIDTH),
        }  # fmt: skip
    return found


def forward(xp: Any, weights: Mapping[str, Any], step: Any, place: Any, there: Any, base: Any) -> Any:
    """Give the log-odds (n x 20) of the segments ahead; `xp` is numpy or torch, as the arrays are."""
    tokens = weights["step"][step] + place @ weights["place"] + weights["position"]
    for layer in range(LAYERS):
        tokens = tokens + attend(xp, weights, f"{layer}", normal(tokens), HEADS, there[:, None, None, :])
        inner = normal(tokens) @ weights[f"{layer}.up"]
        tokens = tokens + (inner * (inner > 0)) @ weights[f"{layer}.down"]
    last = normal(tokens)[:, -1]
    return base * weights["trust"] + last @ weights["head"] + weights["bias"]
