"""Nodes that only the budget mode computes: squeeze-excite, and transposed convolution that doubles a picture.

A squeeze-excite gate depends on every position, so no change stays in its place. Its value hardly moves, though, while
little of the picture does: where it may be kept, everything else can be.
"""

from typing import Any

import numpy as np
import onnx

from apps.inference.core.network.layers import Kind, Layer
from apps.inference.core.network.nodes import READERS as PLAIN
from apps.inference.core.network.nodes import Reader, Readers, Unsupported


def _mean(r: Reader, node: onnx.NodeProto, a: dict[str, Any]) -> None:
    source = r.tensors[r.source(node)]
    r.emit(Kind.GLOBAL, node, (r.source(node),), kernel=(source.height, source.width))


def _meet(r: Reader, node: onnx.NodeProto, a: dict[str, Any]) -> None:
    """A feature map with one value per channel, or whatever else two operands may be."""
    if len(node.input) == 2 and all(n in r.index for n in node.input):
        pair = sorted((r.source(node, 0), r.source(node, 1)), key=lambda t: -r.tensors[t].height * r.tensors[t].width)
        large, small = (r.tensors[t] for t in pair)
        single = small.height == small.width == 1 and large.height * large.width > 1
        if single and small.channels == large.channels:
            r.emit(Kind.GATE, node, (pair[0], pair[1]), operator=2 if node.op_type == "Mul" else 0)
            return
    PLAIN[node.op_type](r, node, a)


def _enlarge(r: Reader, node: onnx.NodeProto, a: dict[str, Any]) -> None:
    """A transposed convolution whose windows do not overlap: a product at each position, then channels as pixels."""
    weight, bias = r.constant(node, 1), r.constant(node, 2)
    if weight is None or weight.ndim != 4:
        raise Unsupported("only two-dimensional convolution is computed by regions")
    inputs, outputs, side, other = weight.shape
    given = {key: [int(v) for v in a.get(key, ())] for key in ("pads", "output_padding", "dilations", "strides")}
    square = side == other and given["strides"] == [side, side] and a.get("group", 1) == 1
    if not square or any(given["pads"]) or any(given["output_padding"]) or set(given["dilations"]) - {1}:
        raise Unsupported("a transposed convolution whose windows overlap")
    source = r.tensors[r.source(node)]
    parts = f"{node.output[0]}.parts"
    r.shapes[parts] = (1, outputs * side * side, source.height, source.width)
    middle = r.add_tensor(parts)
    packed = np.ascontiguousarray(weight.transpose(0, 2, 3, 1), dtype=np.float32).reshape(1, 1, inputs, -1)
    shift = np.zeros(outputs, dtype=np.float32) if bias is None else np.asarray(bias, dtype=np.float32)
    count, tiled = outputs * side * side, np.tile(shift, side * side)
    name = node.name or node.output[0]
    r.layers.append(Layer(Kind.CONV, name, (r.source(node),), middle, weight=packed, bias=tiled, channels=count))
    rows, cols = (_places(n, side) for n in (source.height, source.width))
    r.emit(Kind.SHUFFLE, node, (middle,), stride=(side, side), rows=rows, cols=cols)


def _places(size: int, side: int) -> Any:
    at = np.repeat(np.arange(size, dtype=np.float64), side)
    return np.stack([at, at, np.zeros(size * side)], axis=1)


READERS: Readers = {"GlobalAveragePool": _mean, "Mul": _meet, "Add": _meet, "ConvTranspose": _enlarge}
