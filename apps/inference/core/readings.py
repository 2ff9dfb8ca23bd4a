"""A network's outputs read as JSON, by task: the best classes, boxes in the picture's own pixels, or a summary."""

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np
import numpy.typing as npt

from apps.inference.core import detection

Floats = npt.NDArray[np.float32]
BEST = 5
SHOWN_VALUES = 64
MOST_BOXES = 300


def read(task: str, outputs: Mapping[str, Floats], labels: Sequence[str], scale: tuple[float, float]) -> dict[str, Any]:
    """What one frame's outputs say; `scale` (across, down) takes the network's pixels to the picture's."""
    if task == "classification":
        return {"top": classes(next(iter(outputs.values())), labels)}
    if task == "detection":
        return {"boxes": boxes(outputs, labels, scale)}
    return {"outputs": {name: summary(value) for name, value in outputs.items()}}


def classes(logits: Floats, labels: Sequence[str]) -> list[dict[str, Any]]:
    """The five best classes of logits or probabilities (1, classes, ...), with scores rounded to four decimals."""
    scores = _probabilities(logits.reshape(-1).astype(np.float64))
    best = np.argsort(-scores, kind="stable")[:BEST]
    return [{"class": int(k), "label": _label(labels, int(k)), "score": round(float(scores[k]), 4)} for k in best]


def _probabilities(values: npt.NDArray[np.float64]) -> npt.NDArray[np.float64]:
    values = np.nan_to_num(values)
    if values.size and values.min() >= 0 and abs(values.sum() - 1) < 1e-3:
        return values
    raised = np.exp(values - values.max(initial=-np.inf))
    return np.asarray(raised / max(raised.sum(), 1e-12))


def boxes(outputs: Mapping[str, Floats], labels: Sequence[str], scale: tuple[float, float]) -> list[dict[str, Any]]:
    """Boxes [x0, y0, x1, y1] in the picture's pixels, best first, at most 300."""
    found = np.nan_to_num(detection.boxes(outputs))
    found = found[np.argsort(-found[:, 4], kind="stable")][:MOST_BOXES]
    across, down = scale
    factors = np.array([across, down, across, down])
    return [
        {
            "box": [round(float(v), 1) for v in row[:4] * factors],
            "score": round(float(row[4]), 4),
            "class": int(row[5]),
            "label": _label(labels, int(row[5])),
        }
        for row in found
    ]


def summary(value: Floats) -> dict[str, Any]:
    """Shape and range of one output, and its values where they are few."""
    clean = np.nan_to_num(value.astype(np.float32)).astype(np.float64)
    told: dict[str, Any] = {"shape": list(value.shape)}
    if value.size:
        parts = {"min": clean.min(), "max": clean.max(), "mean": clean.mean(), "std": clean.std()}
        told |= {name: float(f"{float(part):.5g}") for name, part in parts.items()}
    if value.size <= SHOWN_VALUES:
        told["values"] = [float(f"{v:.5g}") for v in clean.reshape(-1).tolist()]
    return told


def _label(labels: Sequence[str], number: int) -> str:
    return labels[number] if 0 <= number < len(labels) else str(number)
