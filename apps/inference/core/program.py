"""A network as tables of integers, so that one compiled loop runs it without returning to Python."""

from dataclasses import dataclass
from fractions import Fraction

import numpy as np
import numpy.typing as npt

from apps.inference.core.network.layers import Kind, Layer, Network

Ints = npt.NDArray[np.int64]

# Columns of the layer table.
KIND, IN0, IN1, OUT, KH, KW, SH, SW, DH, DW, PT, PL = range(12)
WEIGHT, BIAS, ACT, PARAMS, GROUPS, IN_CH, OUT_CH, COUNT, OPERATOR, ROWS, COLS, RULE = range(12, 24)
MASK0, MASK1, MASK_OUT, PART, MACS, TILES = range(24, 30)
LAYER_WIDTH = 30
# Columns of the tensor table: arena offset, size, padded size, padding before, mask.
OFF, H, W, C, HP, WP, TOP, LEFT, ALIGNED = range(9)
TENSOR_WIDTH = 9
# Columns of the mask table.
MOFF, MH, MW = range(3)
# How a layer's mask follows from its input's.
SAME, WINDOW, RESIZED, POOLED, GATED = range(5)


@dataclass
class MaskPlan:
    """The mask part of a program: one byte per position; in `aliased` plans equal masks share their bytes."""

    layers: Ints
    masks: Ints
    size: int


def mask_plan(network: Network, layers: Ints, *, aliased: bool) -> MaskPlan:
    """Give every tensor a mask and fill the mask columns of a copy of the layer table."""
    table, owner = layers.copy(), list(range(len(network.tensors)))
    writers = np.bincount(table[:, OUT], minlength=len(owner))
    for row in table:
        simple = row[RULE] == SAME and row[IN1] < 0 and writers[row[OUT]] == 1
        if aliased and simple:
            owner[row[OUT]] = owner[row[IN0]]
        row[MASK0] = owner[row[IN0]]
        row[MASK1] = owner[row[IN1]] if row[IN1] >= 0 else -1
        row[MASK_OUT] = owner[row[OUT]]
    sizes = [t.height * t.width for t in network.tensors]
    offsets = np.concatenate([[0], np.cumsum(sizes)])
    masks = np.array([[offsets[i], t.height, t.width] for i, t in enumerate(network.tensors)], dtype=np.int64)
    return MaskPlan(table, masks, int(offsets[-1]))


def layer_table(network: Network) -> Ints:
    """The window, rule and cost columns of every layer (storage columns stay zero)."""
    table = np.zeros((len(network.layers), LAYER_WIDTH), dtype=np.int64)
    written: dict[int, int] = {}
    for row, layer in zip(table, network.layers, strict=True):
        second = layer.residual if layer.residual >= 0 else (layer.inputs[1] if len(layer.inputs) > 1 else -1)
        row[[KIND, IN0, IN1, OUT]] = layer.kind, layer.inputs[0], second, layer.output
        row[[KH, KW, SH, SW, DH, DW]] = *layer.kernel, *layer.stride, *layer.dilation
        row[[PT, PL, ACT, GROUPS]] = layer.pads[0], layer.pads[1], layer.act, layer.groups
        row[[IN_CH, OUT_CH, COUNT, OPERATOR]] = layer.in_channel, layer.out_channel, layer.channels, layer.operator
        row[[RULE, MACS]] = _rule(layer), layer.macs()
        written[layer.output] = written.get(layer.output, 0) + 1
    for row in table:
        row[PART] = written[int(row[OUT])] > 1
    return table


def axes_of(network: Network, layers: Ints) -> npt.NDArray[np.float64]:
    """The resize tables of all layers in one array; fills their offsets into the layer table."""
    parts: list[npt.NDArray[np.float64]] = [np.zeros(1)]
    at = 1
    for row, layer in zip(layers, network.layers, strict=True):
        for column, table in ((ROWS, layer.rows), (COLS, layer.cols)):
            if table is not None:
                row[column] = at
                parts.append(table.ravel())
                at += table.size
    return np.concatenate(parts)


def _rule(layer: Layer) -> int:
    special = {Kind.RESIZE: RESIZED, Kind.SHUFFLE: RESIZED, Kind.GLOBAL: POOLED, Kind.GATE: GATED}
    if layer.kind in special:
        return special[layer.kind]
    point = layer.kernel == (1, 1) and layer.stride == (1, 1) and layer.pads == (0, 0, 0, 0)
    return SAME if point else WINDOW


def strides(network: Network) -> list[tuple[Fraction, Fraction] | None]:
    """Input pixels (y, x) per position of every tensor; None where a shift cannot be followed."""
    found: list[tuple[Fraction, Fraction] | None] = [None] * len(network.tensors)
    found[0] = (Fraction(1), Fraction(1))
    for layer in network.layers:
        sources = {found[t] for t in layer.reads()}
        before = sources.pop() if len(sources) == 1 else None
        if before is None or layer.kind in (Kind.RESIZE, Kind.SHUFFLE, Kind.GLOBAL, Kind.GATE):
            found[layer.output] = None
        else:
            found[layer.output] = (before[0] * layer.stride[0], before[1] * layer.stride[1])
    return found


def shifts(network: Network, motion: tuple[int, int]) -> Ints:
    """Array (tensors, 3): whole positions (y, x) each tensor moves, and 1 where it can (else 0, 0, 0)."""
    result = np.zeros((len(network.tensors), 3), dtype=np.int64)
    per = strides(network)
    able = [False] * len(per)
    able[0] = True
    for layer in network.layers:
        able[layer.output] = all(able[t] for t in layer.reads()) and _divides(per[layer.output], motion)
    for i, ok in enumerate(able):
        pair = per[i]
        if ok and pair is not None:
            result[i] = int(motion[0] / pair[0]), int(motion[1] / pair[1]), 1
    return result


def _divides(pair: tuple[Fraction, Fraction] | None, motion: tuple[int, int]) -> bool:
    return pair is not None and all((m / s).denominator == 1 for m, s in zip(motion, pair, strict=True))
