"""Predictors as JSON values, and back."""

from __future__ import annotations

import base64
import io
from typing import Any

import numpy as np

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
        packed = io.BytesIO()
        arrays: Any = {name: each.astype(np.float32) for name, each in model.weights.items()}
        np.savez_compressed(packed, **arrays)
        return {"weights": base64.b64encode(packed.getvalue()).decode(), "curve": dump(model.curve)}
    raise TypeError(f"A {type(model).__name__} cannot be kept.")


def load(kind: str, state: dict[str, Any]) -> Predictor:
    """Read a model that `dump` wrote; raises KeyError or ValueError when it is not whole."""
    if kind == "markov":
        return Markov(np.array(state["chances"], np.float64))
    if kind == "transformer":
        curve = load("retention", state["curve"])
        assert isinstance(curve, Retention)
        with np.load(io.BytesIO(base64.b64decode(state["weights"])), allow_pickle=False) as arrays:
            return Trajectory({name: arrays[name].astype(np.float64) for name in arrays.files}, curve)
    return Retention(np.array(state["first"], np.float64), np.array(state["later"], np.float64))
