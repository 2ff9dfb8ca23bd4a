"""Dirty regions carried through the layers: which output positions must be computed again (DeepCache, section 4.3)."""

import numpy as np
import numpy.typing as npt

from apps.inference.core.marking import dirty, fill, join, rim, spread, stretch
from apps.inference.core.native import native
from apps.inference.core.network.layers import Network
from apps.inference.core.program import (
    DW,
    GATED,
    KW,
    MACS,
    MASK0,
    MASK1,
    MASK_OUT,
    MH,
    MOFF,
    MW,
    OUT,
    POOLED,
    RESIZED,
    RULE,
    SAME,
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
            join(masks, table, boxes, source, target)
    elif op[RULE] == RESIZED:
        stretch(masks, table, boxes, op, axes, scratch)
    elif op[RULE] == POOLED:
        if moved or dirty(masks, table, boxes, source):
            fill(masks, table, boxes, target)
    elif op[RULE] == GATED:
        if moved or (not hopes and dirty(masks, table, boxes, op[MASK1])):
            fill(masks, table, boxes, target)
        else:
            join(masks, table, boxes, source, target)
        return
    else:
        spread(masks, table, boxes, op, scratch)
        if moved:
            rim(masks, table, boxes, op)
    if op[MASK1] >= 0 and op[MASK1] != target:
        join(masks, table, boxes, op[MASK1], target)


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
