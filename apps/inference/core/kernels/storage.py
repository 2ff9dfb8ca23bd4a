"""Where feature maps lie: one float32 arena of zero-padded height x width x channels buffers."""

import numpy as np

from apps.inference.core.network.layers import Kind, Layer, Network
from apps.inference.core.program import ALIGNED, HP, LEFT, OFF, TENSOR_WIDTH, TOP, WP, C, H, Ints, W

_ALIGN = 16
_LANES = 8


def tiled(layer: Layer) -> bool:
    """Whether a layer may run by Winograd tiles: a dense 3 x 3 window, stride 1, whole vectors of channels."""
    plain = (layer.kernel, layer.stride, layer.dilation) == ((3, 3), (1, 1), (1, 1))
    if layer.kind != Kind.CONV or not plain or layer.weight is None:
        return False
    inputs, outputs = layer.weight.shape[2:]
    return bool(inputs % _LANES == 0 and outputs % _LANES == 0 and inputs >= 16)


def _margins(network: Network) -> Ints:
    """Zero padding (top, left, bottom, right) that the readers of every tensor need."""
    need = np.zeros((len(network.tensors), 4), dtype=np.int64)
    for layer in network.layers:
        if layer.kind not in (Kind.CONV, Kind.DEPTHWISE, Kind.GROUPED):
            continue
        source, out = network.tensors[layer.inputs[0]], network.tensors[layer.output]
        ends = [
            (n - 1) * s + (k - 1) * d + 1 - p - size
            for n, s, k, d, p, size in zip(
                (out.height, out.width), layer.stride, layer.kernel, layer.dilation, layer.pads[:2],
                (source.height, source.width), strict=True,
            )
        ]  # fmt: skip
        if tiled(layer):
            # A tile at the end of an odd side reads one pixel more.
            ends = [ends[0] + out.height % 2, ends[1] + out.width % 2]
        row = need[layer.inputs[0]]
        row[:] = np.maximum(row, [layer.pads[0], layer.pads[1], max(0, ends[0]), max(0, ends[1])])
    return need


def tensor_table(network: Network) -> tuple[Ints, int]:
    """The tensor table and the arena's length in floats."""
    table = np.zeros((len(network.tensors), TENSOR_WIDTH), dtype=np.int64)
    at = 0
    for row, tensor, margin in zip(table, network.tensors, _margins(network), strict=True):
        high, wide = tensor.height + margin[0] + margin[2], tensor.width + margin[1] + margin[3]
        row[[OFF, H, W, C]] = at, tensor.height, tensor.width, tensor.channels
        row[[HP, WP, TOP, LEFT, ALIGNED]] = high, wide, margin[0], margin[1], 0
        at += -(-int(high * wide * tensor.channels) // _ALIGN) * _ALIGN
    return table, at


def arena_size(network: Network) -> int:
    """Floats that one stream's feature maps take."""
    return tensor_table(network)[1]
