"""How well a cached run's outputs agree with the plain run's, by task."""

import numpy as np
import numpy.typing as npt

from apps.inference.core import detection
from apps.inference.core.plain import Outputs

Floats = npt.NDArray[np.float32]


def top1(ours: Floats, plain: Floats) -> float:
    """1.0 when both logits (1, classes) name the same class, else 0.0; averaged over a batch."""
    return float(np.mean(np.argmax(ours, axis=-1) == np.argmax(plain, axis=-1)))


def iou(one: Floats, many: Floats) -> Floats:
    """Intersection over union of a box (4,) with boxes (n, 4), as x0, y0, x1, y1."""
    low, high = np.maximum(one[:2], many[:, :2]), np.minimum(one[2:], many[:, 2:])
    inside = np.prod(np.clip(high - low, 0, None), axis=1)
    areas = np.prod(many[:, 2:] - many[:, :2], axis=1) + np.prod(one[2:] - one[:2])
    return np.asarray(inside / np.maximum(areas - inside, 1e-9), dtype=np.float32)


def f1(ours: Floats, plain: Floats, threshold: float = 0.5) -> float:
    """F1 of boxes (n, 4) against the plain run's (m, 4), matched greedily at an IoU; 1.0 when neither has any."""
    if not len(ours) or not len(plain):
        return float(len(ours) == len(plain))
    free = np.ones(len(plain), dtype=bool)
    hits = 0
    for box in ours:
        overlap = np.where(free, iou(box, plain), 0.0)
        best = int(np.argmax(overlap))
        if overlap[best] >= threshold:
            free[best] = False
            hits += 1
    return 2.0 * hits / (len(ours) + len(plain))


def closeness(ours: Floats, plain: Floats) -> float:
    """For raw outputs: 1 - mean absolute difference over the plain run's mean absolute value, at least 0."""
    scale = float(np.mean(np.abs(plain))) or 1.0
    return max(0.0, 1.0 - float(np.mean(np.abs(ours - plain))) / scale)


def agreement(task: str, ours: Outputs, plain: Outputs) -> float:
    """Agreement (0..1) of one frame: classification top-1, detection F1 at IoU 0.5, raw closeness; the first output."""
    one, two = next(iter(ours.values())), next(iter(plain.values()))
    if task == "classification":
        return top1(one, two)
    if task == "detection":
        return f1(detection.boxes(ours)[:, :4], detection.boxes(plain)[:, :4])
    return closeness(one, two)
