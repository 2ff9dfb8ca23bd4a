"""From ONNX to layers: read what is spatial, fuse what can run in one pass, cut off the dense tail."""

import math
from collections import Counter

import onnx

from apps.inference.core.network import gating
from apps.inference.core.network.fusing import fuse
from apps.inference.core.network.layers import Layer, Network, Tensor
from apps.inference.core.network.loading import Graph, GraphError
from apps.inference.core.network.nodes import Reader, Unsupported


def lower(graph: Graph, height: int, width: int, *, gated: bool = False) -> Network:
    """The network at one input size; GraphError when not even its first layers are spatial.

    `gated`: squeeze-excite and doubling by transposed convolution are layers too, not the beginning of the dense tail.
    Their result is never bounded to a place, so this serves the budget mode, where a gate that hardly changes is kept.
    """
    model = graph.simplified(height, width)
    reader = Reader(model, graph.input_name, gating.READERS if gated else None)
    rows: list[tuple[str, str, bool, str]] = []
    tail: list[onnx.NodeProto] = []
    first: tuple[int, str] | None = None
    for at, node in enumerate(model.graph.node):
        why = _try(reader, node)
        rows.append((node.name or node.output[0], node.op_type, not why, why))
        if why:
            tail.append(node)
            first = first or (at, f"{node.op_type}: {why}")
    if not reader.layers:
        raise GraphError(f"no layer of this network can be computed by regions ({rows[0][1]}: {rows[0][3]})")
    return _assemble(model, reader, rows, tail, first)


def _try(reader: Reader, node: onnx.NodeProto) -> str:
    before = (len(reader.tensors), len(reader.layers))
    try:
        reader.read(node)
    except Unsupported as reason:
        for tensor in reader.tensors[before[0] :]:
            reader.index.pop(tensor.name, None)
        del reader.tensors[before[0] :], reader.layers[before[1] :]
        return str(reason)
    return ""


def _assemble(
    model: onnx.ModelProto,
    reader: Reader,
    rows: list[tuple[str, str, bool, str]],
    tail: list[onnx.NodeProto],
    first: tuple[int, str] | None,
) -> Network:
    outputs = tuple(o.name for o in model.graph.output)
    wanted = {n for node in tail for n in node.input} | set(outputs)
    boundary = [i for i, t in enumerate(reader.tensors) if t.name in wanted]
    layers = fuse(reader.tensors, reader.layers, set(boundary))
    layers = _needed(layers, boundary)
    tensors, boundary = _compact(reader, layers, boundary)
    return Network(
        tensors=tensors,
        layers=layers,
        boundary=boundary,
        outputs=outputs,
        tail=_extract(model, reader, tail) if tail else None,
        tail_index=first[0] if first else None,
        tail_why=first[1] if first else "",
        tail_macs=sum(_macs(node, reader) for node in tail),
        nodes=rows,
    )


def _needed(layers: list[Layer], boundary: list[int]) -> list[Layer]:
    wanted, kept = set(boundary), []
    for layer in reversed(layers):
        if layer.output in wanted:
            kept.append(layer)
            wanted.update(layer.reads())
    return kept[::-1]


def _compact(reader: Reader, layers: list[Layer], boundary: list[int]) -> tuple[list[Tensor], list[int]]:
    """Number anew the feature maps that are still made; the input stays number 0."""
    alive = sorted({0, *boundary, *(t for layer in layers for t in (*layer.reads(), layer.output))})
    new = {old: at for at, old in enumerate(alive)}
    for layer in layers:
        layer.inputs = tuple(new[t] for t in layer.inputs)
        layer.output = new[layer.output]
        layer.residual = new.get(layer.residual, -1)
    return [reader.tensors[i] for i in alive], [new[i] for i in boundary]


def _extract(model: onnx.ModelProto, reader: Reader, tail: list[onnx.NodeProto]) -> onnx.ModelProto:
    names = {n for node in tail for n in node.input}
    produced = {n for node in tail for n in node.output}
    inputs = [
        onnx.helper.make_tensor_value_info(t.name, onnx.TensorProto.FLOAT, (1, t.channels, t.height, t.width))
        for t in reader.tensors
        if t.name in names
    ]
    outputs = [o for o in model.graph.output if o.name in produced]
    constants = [t for t in model.graph.initializer if t.name in names]
    body = onnx.helper.make_graph(tail, "tail", inputs, outputs, constants)
    opsets = [o for o in model.opset_import if o.domain in ("", "ai.onnx")]
    return onnx.helper.make_model(body, opset_imports=opsets, ir_version=model.ir_version)


def _macs(node: onnx.NodeProto, reader: Reader) -> int:
    shape = reader.shapes.get(node.output[0], ())
    size = math.prod(shape)
    weights = [reader.constants[n] for n in node.input if n in reader.constants]
    if node.op_type in ("Conv", "ConvTranspose", "Gemm", "MatMul") and weights:
        channels = shape[1] if len(shape) > 1 else 1
        return int(max(w.size for w in weights) * size // max(channels, 1))
    return size


def kinds(network: Network) -> Counter[str]:
    """How many layers of each kind the spatial part has."""
    return Counter(layer.kind.name.lower() for layer in network.layers)
