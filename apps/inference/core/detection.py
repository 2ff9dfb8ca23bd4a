"""Network outputs read as boxes: rows (x0, y0, x1, y1, score, class) in input pixels."""

from collections.abc import Mapping

import cv2
import numpy as np
import numpy.typing as npt

Floats = npt.NDArray[np.float32]
_NONE = np.zeros((0, 6), dtype=np.float32)


def boxes(outputs: Mapping[str, Floats], *, threshold: float = 0.3, overlap: float = 0.5) -> Floats:
    """Boxes (n, 6) from the first output, by its shape.

    (1, 1, h, w): a probability map, as text detectors give. (1, n, 6): boxes as they are. (1, 4 + classes, n): centre,
    size and class scores, as YOLOv8 gives, thinned by overlap.
    """
    first = next(iter(outputs.values()))
    if first.ndim == 4 and first.shape[1] == 1:
        return from_map(first[0, 0], threshold)
    if first.ndim == 3 and first.shape[2] == 6:
        return np.ascontiguousarray(first[0][first[0, :, 4] >= threshold])
    if first.ndim == 3 and first.shape[1] > 4:
        return _from_rows(first[0].T, threshold, overlap)
    return _NONE


def shifted(outputs: Mapping[str, Floats], by: float) -> dict[str, Floats]:
    """The first output with every score raised by so much; boxes stay where they are."""
    name, first = next(iter(outputs.items()))
    raised = first.copy()
    _scores(raised)[...] += np.float32(by)
    return {name: raised}


def score_error(ours: Mapping[str, Floats], plain: Mapping[str, Floats], least: float = 0.15) -> float:
    """Root mean square difference of the scores of which either is at least `least`; 0.0 where none is."""
    one, two = (_scores(next(iter(outputs.values()))) for outputs in (ours, plain))
    if one.shape != two.shape:
        return 0.0
    could = np.maximum(one, two) >= least
    return float(np.sqrt(np.mean(np.square(one - two)[could]))) if could.any() else 0.0


def _scores(first: Floats) -> Floats:
    """A view of the part of an output that `boxes` compares with its threshold."""
    if first.ndim == 3 and first.shape[2] == 6:
        return first[..., 4]
    return first[:, 4:] if first.ndim == 3 else first


def from_map(probability: Floats, threshold: float = 0.3, least: float = 0.6, side: int = 3) -> Floats:
    """Connected regions above a threshold whose mean probability is at least `least` (DB, Liao et al., 2020)."""
    mask = (probability > threshold).astype(np.uint8)
    count, labels, stats, _ = cv2.connectedComponentsWithStats(mask, connectivity=8)
    if count < 2:
        return _NONE
    sums = np.bincount(labels.ravel(), weights=probability.ravel(), minlength=count)
    rows = []
    for k in range(1, count):
        x, y, wide, high, area = (int(v) for v in stats[k])
        score = float(sums[k]) / area
        if score >= least and min(wide, high) >= side:
            # The map is trained on shrunken text; growing by area over perimeter undoes it.
            grow = 1.5 * wide * high / (2 * (wide + high))
            rows.append((x - grow, y - grow, x + wide + grow, y + high + grow, score, 0.0))
    if not rows:
        return _NONE
    found = np.asarray(rows, dtype=np.float32)
    found[:, [0, 2]] = np.clip(found[:, [0, 2]], 0, probability.shape[1])
    found[:, [1, 3]] = np.clip(found[:, [1, 3]], 0, probability.shape[0])
    return found


def _from_rows(rows: Floats, threshold: float, overlap: float) -> Floats:
    scores = rows[:, 4:].max(axis=1)
    keep = scores >= threshold
    rows, scores = rows[keep], scores[keep]
    if not len(rows):
        return _NONE
    low, high = rows[:, :2] - rows[:, 2:4] / 2, rows[:, :2] + rows[:, 2:4] / 2
    kinds = rows[:, 4:].argmax(axis=1)
    corner = np.concatenate([low, high - low], axis=1)
    # Classes are set apart by a large offset, so that only boxes of one class thin each other.
    apart = corner + np.stack([kinds * 1e4, kinds * 1e4, kinds * 0, kinds * 0], axis=1)
    chosen = np.asarray(cv2.dnn.NMSBoxes(apart.tolist(), scores.tolist(), threshold, overlap), dtype=np.int64).ravel()
    table = np.concatenate([low, high, scores[:, None], kinds[:, None]], axis=1)
    return np.ascontiguousarray(table[chosen], dtype=np.float32)
