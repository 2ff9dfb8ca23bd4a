"""Resizing along one axis as a table: two source rows and the weight of the second, for every output row."""

from dataclasses import dataclass
from typing import Any, Self

import numpy as np
import numpy.typing as npt


@dataclass(frozen=True)
class Axis:
    """How ONNX's Resize maps output coordinates to input ones (operator specification, Resize)."""

    linear: bool
    coordinates: str
    rounding: str

    @classmethod
    def of(cls, operator: str, attributes: dict[str, Any], opset: int) -> Self | None:
        """The rule of a node, or None when it is not nearest or linear."""
        mode = attributes.get("mode", b"nearest").decode()
        old = operator == "Upsample" or opset < 11
        where = "asymmetric" if old else attributes.get("coordinate_transformation_mode", b"half_pixel").decode()
        rounding = "floor" if old else attributes.get("nearest_mode", b"round_prefer_floor").decode()
        known = ("half_pixel", "pytorch_half_pixel", "asymmetric", "align_corners")
        if mode not in ("nearest", "linear") or where not in known:
            return None
        return cls(mode == "linear", where, rounding)


def axis_table(size: int, out: int, scale: float, rule: Axis) -> npt.NDArray[np.float64]:
    """Array (out, 3): first source index, second source index, weight of the second."""
    # Where both sizes and scales exist ONNX computes with the scale; onnxruntime does so in float32.
    ratio = np.float32(scale) if scale > 0 else np.float32(out) / np.float32(size)
    at = np.clip(_coordinates(size, out, ratio, rule.coordinates), 0, size - 1) if rule.linear else None
    if at is not None:
        low = np.floor(at)
        return np.stack([low, np.minimum(low + 1, size - 1), at - low], axis=1)
    near = _nearest(_coordinates(size, out, ratio, rule.coordinates), rule.rounding)
    near = np.clip(near, 0, size - 1)
    return np.stack([near, near, np.zeros(out)], axis=1)


def _coordinates(size: int, out: int, ratio: np.float32, rule: str) -> npt.NDArray[np.float64]:
    x = np.arange(out, dtype=np.float32)
    if rule == "asymmetric":
        return (x / ratio).astype(np.float64)
    if rule == "align_corners":
        return (x * np.float32(size - 1) / np.float32(max(out - 1, 1))).astype(np.float64)
    if rule == "pytorch_half_pixel" and out == 1:
        return np.zeros(1)
    return ((x + np.float32(0.5)) / ratio - np.float32(0.5)).astype(np.float64)


def _nearest(x: npt.NDArray[np.float64], rounding: str) -> npt.NDArray[np.float64]:
    if rounding == "floor":
        return np.floor(x)
    if rounding == "ceil":
        return np.ceil(x)
    if rounding == "round_prefer_ceil":
        return np.floor(x + 0.5)
    return np.ceil(x - 0.5)
