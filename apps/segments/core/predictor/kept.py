"""Predictors as JSON values, and back."""

from __future__ import annotations

from typing import Any

import numpy as np

from apps.segments.core.packing import pack, unpack
from apps.segments.core.predictor.markov import Markov
from apps.segments.core.predictor.retention import Retention
from apps.segments.core.predictor.trajectory import Trajectory
from apps.segments.core.predictor.views import Predictor


def dump(model: Predictor) -> dict[str, Any]:
    """Write a model; raises TypeError for one of no known kind."""
    if isinstance(model, Markov):
        return {"chances": model.chances.tolist()}
    if isinstance(model, Retention):
        return {"first": model.first.tolist(), "later": model.later.tolist()}
    if isinstance(model, Trajectory):
        return {"weights": pack(model.weights), "curve": dump(model.curve)}
    raise TypeError(f"A {type(model).__name__} cannot be kept.")


def load(kind: str, state: dict[str, Any]) -> Predictor:
    """Read a model that `dump` wrote; raises KeyError or ValueError when it is not whole."""
    if kind == "markov":
        return Markov(np.array(state["chances"], np.float64))
    if kind == "transformer":
        curve = load("retention", state["curve"])
        assert isinstance(curve, Retention)
        return Trajectory({name: each.astype(np.float64) for name, each in unpack(state["weights"]).items()}, curve)
    return Retention(np.array(state["first"], np.float64), np.array(state["later"], np.float64))
