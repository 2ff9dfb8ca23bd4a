"""Pictures for people: small copies of frames, reuse maps over them, boxes on them."""

from collections.abc import Sequence
from typing import Any

import cv2
import numpy as np
import numpy.typing as npt

Image = npt.NDArray[np.uint8]
SIDE = 320
PICTURE = 640
GOLD, RED = (217, 166, 58), (214, 69, 58)


def thumbnail(image: Image, size: tuple[int, int]) -> bytes:
    """A JPEG of an RGB frame, at most 320 pixels a side, in the proportions of `size` (width, height)."""
    factor = SIDE / max(size)
    small = (max(1, round(size[0] * factor)), max(1, round(size[1] * factor)))
    shrunk = np.asarray(cv2.resize(image, small, interpolation=cv2.INTER_AREA), dtype=np.uint8)
    return _encoded(".jpg", shrunk, [cv2.IMWRITE_JPEG_QUALITY, 72])


def reuse_map(grid: Image, picture: bytes | None, size: tuple[int, int]) -> bytes:
    """A PNG: what was reused is dim, what was recomputed is gold by its share of work, changed blocks are outlined.

    `grid` as in tracks.Seen, `picture` a thumbnail or None, `size` the frame's own (width, height).
    """
    factor = PICTURE / max(size)
    across, down = max(1, round(size[0] * factor)), max(1, round(size[1] * factor))
    base = _base(picture, (across, down))
    work = _stretched((grid & 127).astype(np.float32) / np.float32(127), (across, down))[..., None]
    drawn = base * (0.35 + 0.65 * work)
    drawn = drawn * (1 - 0.45 * work) + np.array(GOLD, dtype=np.float32) * (0.45 * work)
    edges = _edges(_stretched(((grid & 128) > 0).astype(np.float32), (across, down)) > 0.5)
    drawn[edges] = RED
    return _encoded(".png", np.clip(drawn, 0, 255).astype(np.uint8), [])


def _base(picture: bytes | None, size: tuple[int, int]) -> npt.NDArray[np.float32]:
    if picture is not None:
        found = cv2.imdecode(np.frombuffer(picture, dtype=np.uint8), cv2.IMREAD_COLOR_RGB)
        if found is not None:
            return np.asarray(cv2.resize(found, size, interpolation=cv2.INTER_LINEAR), dtype=np.float32)
    return np.full((size[1], size[0], 3), 120, dtype=np.float32)


def _stretched(cells: npt.NDArray[np.float32], size: tuple[int, int]) -> npt.NDArray[np.float32]:
    return np.asarray(cv2.resize(cells, size, interpolation=cv2.INTER_NEAREST), dtype=np.float32)


def _edges(mask: npt.NDArray[np.bool_]) -> npt.NDArray[np.bool_]:
    inner = np.asarray(cv2.erode(mask.astype(np.uint8), np.ones((3, 3), dtype=np.uint8)), dtype=bool)
    return np.asarray(mask & ~inner)


def with_boxes(image: Image, boxes: Sequence[dict[str, Any]]) -> Image:
    """A copy of an RGB frame with boxes (as readings.boxes gives them) and their labels."""
    drawn = np.array(image)
    thick = max(1, round(max(image.shape[:2]) / 400))
    for each in boxes:
        x0, y0, x1, y1 = (int(v) for v in each["box"])
        cv2.rectangle(drawn, (x0, y0), (x1, y1), GOLD, thick)
        words = each["label"] if not each["label"].isdigit() else ""
        if words:
            cv2.putText(drawn, words[:40], (x0, max(12, y0 - 4)), cv2.FONT_HERSHEY_SIMPLEX, 0.45 * thick, GOLD, thick)
    return drawn


def _encoded(kind: str, image: Image, options: Sequence[int]) -> bytes:
    done, data = cv2.imencode(kind, np.ascontiguousarray(image[..., ::-1]), list(options))
    if not done:
        raise ValueError(f"a picture of {image.shape} cannot be written as {kind}")
    return bytes(data.tobytes())
