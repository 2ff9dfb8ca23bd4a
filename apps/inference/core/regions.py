"""Dirty regions carried through the layers: which output positions must be computed again (DeepCache, section 4.3).

A mask is one byte a position. A box (y0, y1, x0, x1) bounds what is set, so small changes cost little.
"""

import numpy as np
import numpy.typing as npt

from apps.inference.core.native import native
from apps.inference.core.network.layers import Network
from apps.inference.core.program import (
    COLS,
    DH,
    DW,
    GATED,
    KH,
    KW,
    MACS,
    MASK0,
    MASK1,
    MASK_OUT,
    MH,
    MOFF,
    MW,
    OUT,
    PL,
    POOLED,
    PT,
    RESIZED,
    ROWS,
    RULE,
    SAME,
    SH,
    SW,
    Ints,
    MaskPlan,
    axes_of,
    layer_table,
    mask_plan,
)

Bytes = npt.NDArray[np.uint8]
_I = "int64"
_M = "uint8[::1]"
_T = "int64[:,::1]"


@native(f"void({_T},{_I},{_I},{_I},{_I},{_I})")
def _grow(boxes, at, y0, y1, x0, x1):  # type: ignore[no-untyped-def]
    if y0 >= y1 or x0 >= x1:
        return
    if boxes[at, 0] >= boxes[at, 1]:
        boxes[at, 0], boxes[at, 1], boxes[at, 2], boxes[at, 3] = y0, y1, x0, x1
        return
    boxes[at, 0], boxes[at, 1] = min(boxes[at, 0], y0), max(boxes[at, 1], y1)
    boxes[at, 2], boxes[at, 3] = min(boxes[at, 2], x0), max(boxes[at, 3], x1)


@native(f"void({_M},{_T},{_T},{_I},{_I})")
def _join(masks, table, boxes, source, target):  # type: ignore[no-untyped-def]
    width = table[source, MW]
    a, b = table[source, MOFF], table[target, MOFF]
    y0, y1, x0, x1 = boxes[source, 0], boxes[source, 1], boxes[source, 2], boxes[source, 3]
    for y in range(y0, y1):
        one = masks[a + y * width + x0 : a + y * width + x1]
        two = masks[b + y * width + x0 : b + y * width + x1]
        for i in range(one.size):
            two[i] |= one[i]
    _grow(boxes, target, y0, y1, x0, x1)


@native(f"{_I}({_I},{_I})")
def _ceil(a, b):  # type: ignore[no-untyped-def]
    return -((-a) // b)


@native(f"void({_M},{_T},{_T},int64[::1],{_M})")
def _spread(masks, table, boxes, op, scratch):  # type: ignore[no-untyped-def]
    """An output is dirty when any input under its window is; columns are first joined at stride 1, then sampled."""
    source, target = op[MASK0], op[MASK_OUT]
    width, out_h, out_w = table[source, MW], table[target, MH], table[target, MW]
    a, b = table[source, MOFF], table[target, MOFF]
    y0, y1, x0, x1 = boxes[source, 0], boxes[source, 1], boxes[source, 2], boxes[source, 3]
    if y0 >= y1:
        return
    reach_y, reach_x = (op[KH] - 1) * op[DH], (op[KW] - 1) * op[DW]
    oy0, oy1 = max(0, _ceil(y0 + op[PT] - reach_y, op[SH])), min(out_h, (y1 - 1 + op[PT]) // op[SH] + 1)
    ox0, ox1 = max(0, _ceil(x0 + op[PL] - reach_x, op[SW])), min(out_w, (x1 - 1 + op[PL]) // op[SW] + 1)
    span = x1 - x0
    line, wide = scratch[: span + 2 * reach_x], scratch[span + 2 * reach_x : 2 * span + 3 * reach_x]
    for oy in range(oy0, oy1):
        line[:] = 0
        for k in range(op[KH]):
            iy = oy * op[SH] - op[PT] + k * op[DH]
            if y0 <= iy < y1:
                row = masks[a + iy * width + x0 : a + iy * width + x1]
                middle = line[reach_x : reach_x + span]
                for i in range(span):
                    middle[i] |= row[i]
        wide[:] = 0
        for k in range(op[KW]):
            part = line[k * op[DW] : k * op[DW] + wide.size]
            for i in range(wide.size):
                wide[i] |= part[i]
        # wide[i] answers for a window that starts at input column x0 - reach_x + i
        first = ox0 * op[SW] - op[PL] - x0 + reach_x
        result = masks[b + oy * out_w + ox0 : b + oy * out_w + ox1]
        for i in range(result.size):
            result[i] |= wide[first + i * op[SW]]
    _grow(boxes, target, oy0, oy1, ox0, ox1)


@native(f"void({_M},{_T},{_T},int64[::1],float64[::1])")
def _stretch(masks, table, boxes, op, axes):  # type: ignore[no-untyped-def]
    source, target = op[MASK0], op[MASK_OUT]
    width, out_h, out_w = table[source, MW], table[target, MH], table[target, MW]
    a, b = table[source, MOFF], table[target, MOFF]
    y0, y1, x0, x1 = boxes[source, 0], boxes[source, 1], boxes[source, 2], boxes[source, 3]
    low, high = out_h, 0
    for oy in range(out_h):
        r0, r1 = int(axes[op[ROWS] + 3 * oy]), int(axes[op[ROWS] + 3 * oy + 1])
        if (r0 < y0 or r0 >= y1) and (r1 < y0 or r1 >= y1):
            continue
        low, high = min(low, oy), oy + 1
        for ox in range(out_w):
            c0, c1 = int(axes[op[COLS] + 3 * ox]), int(axes[op[COLS] + 3 * ox + 1])
            if (c0 < x0 or c0 >= x1) and (c1 < x0 or c1 >= x1):
                continue
            upper = masks[a + r0 * width + c0] | masks[a + r0 * width + c1]
            masks[b + oy * out_w + ox] |= upper | masks[a + r1 * width + c0] | masks[a + r1 * width + c1]
    _grow(boxes, target, low, high, 0, out_w)


@native(f"void({_M},{_T},{_T},int64[::1])")
def _rim(masks, table, boxes, op):  # type: ignore[no-untyped-def]
    """After a shift, what a window reads from the padding is not what it read before: all such outputs are dirty."""
    source, target = op[MASK0], op[MASK_OUT]
    height, width, out_h, out_w = table[source, MH], table[source, MW], table[target, MH], table[target, MW]
    b = table[target, MOFF]
    for oy in range(out_h):
        top = oy * op[SH] - op[PT]
        outside = top < 0 or top + (op[KH] - 1) * op[DH] >= height
        for ox in range(out_w):
            left = ox * op[SW] - op[PL]
            if outside or left < 0 or left + (op[KW] - 1) * op[DW] >= width:
                masks[b + oy * out_w + ox] = 1
    _grow(boxes, target, 0, out_h, 0, out_w)


@native(f"void({_M},{_T},{_T},{_I})")
def fill(masks, table, boxes, at):  # type: ignore[no-untyped-def]
    """Set a whole mask."""
    masks[table[at, MOFF] : table[at, MOFF] + table[at, MH] * table[at, MW]] = 1
    boxes[at, 0], boxes[at, 1], boxes[at, 2], boxes[at, 3] = 0, table[at, MH], 0, table[at, MW]


@native(f"boolean({_M},{_T},{_T},{_I})")
def _dirty(masks, table, boxes, at):  # type: ignore[no-untyped-def]
    for y in range(boxes[at, 0], boxes[at, 1]):
        start = table[at, MOFF] + y * table[at, MW]
        for x in range(boxes[at, 2], boxes[at, 3]):
            if masks[start + x] != 0:
                return True
    return False


@native(f"void({_M},{_T},{_T},int64[::1],{_T},float64[::1],{_M},boolean,boolean)")
def follow(masks, table, boxes, op, shift, axes, scratch, moved, hopes):  # type: ignore[no-untyped-def]
    """Carry the dirty mask through one layer; `moved` says that cached features were shifted.

    `hopes`: a gate over all positions is taken to stay as it is, as it mostly does; else whether it did is looked up.
    """
    source, target = op[MASK0], op[MASK_OUT]
    if moved and shift[op[OUT], 2] == 0:
        fill(masks, table, boxes, target)
        return
    if op[RULE] == SAME:
        if source != target:
            _join(masks, table, boxes, source, target)
    elif op[RULE] == RESIZED:
        _stretch(masks, table, boxes, op, axes)
    elif op[RULE] == POOLED:
        if moved or _dirty(masks, table, boxes, source):
            fill(masks, table, boxes, target)
    elif op[RULE] == GATED:
        if moved or (not hopes and _dirty(masks, table, boxes, op[MASK1])):
            fill(masks, table, boxes, target)
        else:
            _join(masks, table, boxes, source, target)
        return
    else:
        _spread(masks, table, boxes, op, scratch)
        if moved:
            _rim(masks, table, boxes, op)
    if op[MASK1] >= 0 and op[MASK1] != target:
        _join(masks, table, boxes, op[MASK1], target)


@native(f"{_I}({_M},{_T},{_T},{_I})")
def count(masks, table, boxes, at):  # type: ignore[no-untyped-def]
    """Dirty positions of one mask."""
    total = 0
    width, start = table[at, MW], table[at, MOFF]
    for y in range(boxes[at, 0], boxes[at, 1]):
        row = masks[start + y * width + boxes[at, 2] : start + y * width + boxes[at, 3]]
        for i in range(row.size):
            total += row[i]
    return total


@native(f"void({_T},{_M},{_T},{_T},{_T},float64[::1],{_M},boolean,int64[::1])")
def predict(layers, masks, table, boxes, shift, axes, scratch, moved, counts):  # type: ignore[no-untyped-def]
    """Carry mask 0 through every layer; counts receives the dirty positions of every layer."""
    last, number = -1, 0
    for i in range(layers.shape[0]):
        follow(masks, table, boxes, layers[i], shift, axes, scratch, moved, True)
        if layers[i, MASK_OUT] != last:
            last, number = layers[i, MASK_OUT], count(masks, table, boxes, layers[i, MASK_OUT])
        counts[i] = number


class Masks:
    """Masks of one stream: set the input's, predict the rest, read the share of work."""

    def __init__(self, network: Network, layers: Ints, axes: npt.NDArray[np.float64], *, aliased: bool) -> None:
        self.plan: MaskPlan = mask_plan(network, layers, aliased=aliased)
        self.bits: Bytes = np.zeros(self.plan.size, dtype=np.uint8)
        self.boxes: Ints = np.zeros((len(network.tensors), 4), dtype=np.int64)
        self.counts: Ints = np.zeros(len(network.layers), dtype=np.int64)
        self.axes = axes
        self.still: Ints = np.zeros((len(network.tensors), 3), dtype=np.int64)
        reach = max([1, *(int((r[KW] - 1) * r[DW]) for r in self.plan.layers)])
        self.scratch: Bytes = np.zeros(2 * max(t.width for t in network.tensors) + 4 * reach + 64, dtype=np.uint8)
        self.macs = self.plan.layers[:, MACS].astype(np.float64)
        self.total = float(network.macs() + network.tail_macs)
        self.tail_macs = network.tail_macs

    def at(self, mask: int) -> Bytes:
        """A mask of the plan as (height, width)."""
        offset, height, width = (int(v) for v in self.plan.masks[mask])
        return self.bits[offset : offset + height * width].reshape(height, width)

    def any(self, tensors: list[int]) -> bool:
        """Whether any of these feature maps has a dirty position."""
        rows = self.plan.layers
        return any(bool(self.at(int(r[MASK_OUT])).any()) for r in rows if int(r[OUT]) in tensors)

    def forget(self) -> None:
        """Clear all masks but the input's."""
        size = int(self.plan.masks[0, MH] * self.plan.masks[0, MW])
        self.bits[size:] = 0
        self.boxes[1:] = 0

    def everything(self) -> None:
        """All positions are dirty, those too that see nothing but padding."""
        self.bits[:] = 1
        self.boxes[: len(self.plan.masks), 1], self.boxes[: len(self.plan.masks), 3] = self.plan.masks[:, [MH, MW]].T
        self.boxes[:, [0, 2]] = 0

    def clear(self) -> None:
        """Nothing is dirty."""
        self.bits[:] = 0
        self.boxes[:] = 0

    def mark_input(self, mask: Bytes) -> None:
        """Set the input's dirty pixels from a mask (height, width) of zeros and ones."""
        rows, cols = np.flatnonzero(mask.any(axis=1)), np.flatnonzero(mask.any(axis=0))
        if rows.size:
            self.boxes[0] = rows[0], rows[-1] + 1, cols[0], cols[-1] + 1
        self.bits[: mask.size] = mask.ravel()

    def predict(self, shift: Ints | None = None) -> float:
        """Carry the input's mask through all layers; the share of all multiplications that must be redone."""
        still = self.still if shift is None else shift
        predict(
            self.plan.layers, self.bits, self.plan.masks, self.boxes, still, self.axes, self.scratch,
            shift is not None, self.counts,
        )  # fmt: skip
        return self.share()

    def share(self) -> float:
        """Share of multiplications, tail included when anything reaches it, of the last prediction."""
        done = float(self.counts @ self.macs)
        return (done + (self.tail_macs if self.counts.size and self.counts[-1] else 0)) / max(self.total, 1.0)


def masks_of(network: Network, *, aliased: bool = True) -> Masks:
    """Masks for analysis or for a stream."""
    layers = layer_table(network)
    return Masks(network, layers, axes_of(network, layers), aliased=aliased)
