"""ONNX nodes read one by one into layers; what cannot be read raises Unsupported with the reason."""

from typing import Any

import numpy as np
import onnx

from apps.inference.core.network.layers import Act, Floats, Kind, Layer, Tensor
from apps.inference.core.network.resizing import Axis, axis_table


class Unsupported(Exception):
    """This node cannot be computed region by region."""


class Reader:
    """Reads nodes in order; knows the constants, the shapes, and the feature maps made so far."""

    def __init__(self, model: onnx.ModelProto, input_name: str, more: "Readers | None" = None) -> None:
        self.readers = {**READERS, **(more or {})}
        self.constants = {t.name: onnx.numpy_helper.to_array(t) for t in model.graph.initializer}
        self.shapes = _shapes(model)
        self.opset = next((o.version for o in model.opset_import if o.domain in ("", "ai.onnx")), 17)
        self.tensors: list[Tensor] = []
        self.index: dict[str, int] = {}
        self.layers: list[Layer] = []
        self.add_tensor(input_name)

    def add_tensor(self, name: str) -> int:
        """Register a feature map; Unsupported when it is not 1 x channels x height x width."""
        shape = self.shapes.get(name)
        if shape is None or len(shape) != 4 or shape[0] != 1 or min(shape) < 1:
            raise Unsupported("its result is not a feature map")
        self.index[name] = len(self.tensors)
        self.tensors.append(Tensor(name, shape[2], shape[3], shape[1]))
        return self.index[name]

    def read(self, node: onnx.NodeProto) -> None:
        """Append the layers of one node, or raise Unsupported."""
        if node.domain not in ("", "ai.onnx") or node.op_type not in self.readers:
            raise Unsupported(_WHY.get(node.op_type, f"{node.op_type} is not computed by regions"))
        missing = [n for n in node.input if n and n not in self.constants and n not in self.index]
        if missing:
            raise Unsupported("it needs a result of the dense tail")
        if not any(n in self.index for n in node.input):
            raise Unsupported("it reads no feature map")
        self.readers[node.op_type](self, node, {a.name: onnx.helper.get_attribute_value(a) for a in node.attribute})

    def source(self, node: onnx.NodeProto, position: int = 0) -> int:
        """Index of the feature map at one input."""
        name = node.input[position]
        if name not in self.index:
            raise Unsupported("its input is a constant")
        return self.index[name]

    def constant(self, node: onnx.NodeProto, position: int) -> Floats | None:
        """The constant at one input, or None when absent; Unsupported when it is computed."""
        if position >= len(node.input) or not node.input[position]:
            return None
        if node.input[position] not in self.constants:
            raise Unsupported("a parameter is computed, not constant")
        return np.asarray(self.constants[node.input[position]])

    def emit(self, kind: Kind, node: onnx.NodeProto, inputs: tuple[int, ...], **more: Any) -> Layer:
        """Add the node's result and the layer that makes it."""
        output = self.add_tensor(node.output[0])
        more.setdefault("channels", self.tensors[output].channels)
        layer = Layer(kind, node.name or node.output[0], inputs, output, absorbed=[node.output[0]], **more)
        self.layers.append(layer)
        return layer


def _shapes(model: onnx.ModelProto) -> dict[str, tuple[int, ...]]:
    found = {}
    for value in [*model.graph.input, *model.graph.value_info, *model.graph.output]:
        dims = value.type.tensor_type.shape.dim
        if value.type.tensor_type.elem_type == onnx.TensorProto.FLOAT and all(d.HasField("dim_value") for d in dims):
            found[value.name] = tuple(d.dim_value for d in dims)
    return found


def _window(r: Reader, node: onnx.NodeProto, a: dict[str, Any], kernel: tuple[int, int]) -> dict[str, Any]:
    stride = tuple(a.get("strides", (1, 1)))
    dilation = tuple(a.get("dilations", (1, 1)))
    source, shape = r.tensors[r.source(node)], r.shapes.get(node.output[0])
    if len(kernel) != 2 or shape is None or len(shape) != 4:
        raise Unsupported("only two-dimensional windows are computed by regions")
    auto = a.get("auto_pad", b"NOTSET").decode()
    if auto in ("SAME_UPPER", "SAME_LOWER"):
        sizes = ((source.height, shape[2]), (source.width, shape[3]))
        pairs = [_same(n, out, kernel[i], stride[i], dilation[i], auto) for i, (n, out) in enumerate(sizes)]
        pads = (pairs[0][0], pairs[1][0], pairs[0][1], pairs[1][1])
    else:
        pads = tuple(a.get("pads", (0, 0, 0, 0))) if auto == "NOTSET" else (0, 0, 0, 0)
    if min(pads) < 0:
        raise Unsupported("negative padding")
    return {"kernel": kernel, "stride": stride, "dilation": dilation, "pads": pads}


def _same(size: int, out: int, kernel: int, stride: int, dilation: int, auto: str) -> tuple[int, int]:
    total = max(0, (out - 1) * stride + (kernel - 1) * dilation + 1 - size)
    small, large = total // 2, total - total // 2
    return (small, large) if auto == "SAME_UPPER" else (large, small)


def _conv(r: Reader, node: onnx.NodeProto, a: dict[str, Any]) -> None:
    weight, bias = r.constant(node, 1), r.constant(node, 2)
    if weight is None or weight.ndim != 4:
        raise Unsupported("only two-dimensional convolution is computed by regions")
    source, groups = r.source(node), int(a.get("group", 1))
    window = _window(r, node, a, (weight.shape[2], weight.shape[3]))
    outputs, per_group = weight.shape[:2]
    kind = Kind.CONV if groups == 1 else Kind.GROUPED
    if groups > 1 and per_group == 1 and outputs == groups:
        kind = Kind.DEPTHWISE
    # Weights lie as (taps, input channels, output channels), the order in which a position's pixels are gathered.
    packed = weight.reshape(groups, outputs // groups, per_group, -1).transpose(0, 3, 2, 1)
    if kind == Kind.DEPTHWISE:
        packed = packed[:, :, 0, 0].T
    bias = np.zeros(outputs, dtype=np.float32) if bias is None else bias
    r.emit(kind, node, (source,), groups=groups, weight=_f32(packed), bias=_f32(bias), **window)


def _f32(array: Any) -> Floats:
    return np.ascontiguousarray(array, dtype=np.float32)


def _pool(r: Reader, node: onnx.NodeProto, a: dict[str, Any]) -> None:
    if len(node.output) > 1 and node.output[1]:
        raise Unsupported("pooling with indices")
    window = _window(r, node, a, tuple(a["kernel_shape"]))
    source = r.source(node)
    kind = Kind.MAXPOOL if node.op_type == "MaxPool" else Kind.AVGPOOL
    include = int(a.get("count_include_pad", 0))
    if include and a.get("ceil_mode", 0):
        raise Unsupported("average pooling that counts padding beyond the border")
    r.emit(kind, node, (source,), operator=include, **window)


def _activation(act: Act, first: tuple[str, float] = ("", 0.0), second: tuple[str, float] = ("", 0.0)) -> Any:
    def read(r: Reader, node: onnx.NodeProto, a: dict[str, Any]) -> None:
        params = (float(a.get(*first)), float(a.get(*second)))
        source = r.source(node)
        r.emit(Kind.UNARY, node, (source,), act=act, act_params=params)

    return read


def _relu(r: Reader, node: onnx.NodeProto, a: dict[str, Any]) -> None:
    source = r.source(node)
    r.emit(Kind.UNARY, node, (source,), act=Act.CLIP, act_params=(0.0, np.inf))


def _clip(r: Reader, node: onnx.NodeProto, a: dict[str, Any]) -> None:
    low, high = r.constant(node, 1), r.constant(node, 2)
    params = (
        float(low.ravel()[0]) if low is not None else float(a.get("min", -np.inf)),
        float(high.ravel()[0]) if high is not None else float(a.get("max", np.inf)),
    )
    source = r.source(node)
    r.emit(Kind.UNARY, node, (source,), act=Act.CLIP, act_params=params)


def _batch_norm(r: Reader, node: onnx.NodeProto, a: dict[str, Any]) -> None:
    scale, shift, mean, var = (r.constant(node, i) for i in range(1, 5))
    if scale is None or shift is None or mean is None or var is None:
        raise Unsupported("batch normalisation without constants")
    factor = scale / np.sqrt(var + a.get("epsilon", 1e-5))
    _affine(r, node, factor, shift - mean * factor)


def _affine(r: Reader, node: onnx.NodeProto, factor: Any, shift: Any) -> None:
    source = r.source(node, 0 if node.input[0] in r.index else 1)
    channels = r.tensors[source].channels
    both = np.concatenate([np.broadcast_to(factor, channels), np.broadcast_to(shift, channels)])
    r.emit(Kind.UNARY, node, (source,), act=Act.AFFINE, weight=_f32(both))


_OPERATORS = {"Add": 0, "Sub": 1, "Mul": 2, "Div": 3, "Max": 4, "Min": 5}


def _binary(r: Reader, node: onnx.NodeProto, a: dict[str, Any]) -> None:
    if len(node.input) != 2:
        raise Unsupported("more than two operands")
    if all(n in r.index for n in node.input):
        first, second = r.source(node, 0), r.source(node, 1)
        one, two = r.tensors[first], r.tensors[second]
        if (one.height, one.width, one.channels) != (two.height, two.width, two.channels):
            raise Unsupported("operands of different sizes (squeeze-excite or broadcast)")
        r.emit(Kind.BINARY, node, (first, second), operator=_OPERATORS[node.op_type])
        return
    _with_constant(r, node)


def _with_constant(r: Reader, node: onnx.NodeProto) -> None:
    left = node.input[0] in r.constants
    value = r.constants[node.input[0 if left else 1]]
    source = r.tensors[r.source(node, 1 if left else 0)]
    if value.size not in (1, source.channels) or (value.size > 1 and value.shape[-3:] != (source.channels, 1, 1)):
        raise Unsupported("a constant that differs from place to place")
    value = value.astype(np.float64).ravel()
    zero, one = np.zeros_like(value), np.ones_like(value)
    table = {"Add": (one, value), "Mul": (value, zero)}
    if node.op_type == "Sub":
        table["Sub"] = (-one, value) if left else (one, -value)
    if node.op_type == "Div" and not left:
        table["Div"] = (1.0 / value, zero)
    if node.op_type not in table:
        raise Unsupported(f"{node.op_type} with a constant")
    _affine(r, node, *table[node.op_type])


def _concat(r: Reader, node: onnx.NodeProto, a: dict[str, Any]) -> None:
    if a["axis"] not in (1, -3):
        raise Unsupported("concatenation along another axis than channels")
    sources = [r.source(node, i) for i in range(len(node.input))]
    output = r.add_tensor(node.output[0])
    at = 0
    for source in sources:
        count = r.tensors[source].channels
        r.layers.append(
            Layer(Kind.COPY, node.name or node.output[0], (source,), output, channels=count, out_channel=at)
        )
        at += count
    r.layers[-1].absorbed.append(node.output[0])


def _split(r: Reader, node: onnx.NodeProto, a: dict[str, Any]) -> None:
    if a.get("axis", 0) not in (1, -3):
        raise Unsupported("a split along another axis than channels")
    source, at = r.source(node), 0
    for name in node.output:
        output = r.add_tensor(name)
        count = r.tensors[output].channels
        more = {"channels": count, "in_channel": at}
        r.layers.append(Layer(Kind.COPY, node.name or name, (source,), output, absorbed=[name], **more))  # type: ignore[arg-type]
        at += count


def _resize(r: Reader, node: onnx.NodeProto, a: dict[str, Any]) -> None:
    source = r.source(node)
    shape = r.shapes.get(node.output[0])
    if shape is None or len(shape) != 4 or a.get("axes") or a.get("antialias", 0):
        raise Unsupported("a resize of unknown size, or antialiased")
    scales = r.constant(node, 2) if node.op_type == "Resize" else r.constant(node, 1)
    given = scales.ravel().tolist() if scales is not None and scales.size == 4 else [0.0] * 4
    here = r.tensors[source]
    rule = Axis.of(node.op_type, a, r.opset)
    if rule is None or shape[1] != here.channels:
        raise Unsupported("this way of resizing")
    rows = axis_table(here.height, shape[2], given[2], rule)
    cols = axis_table(here.width, shape[3], given[3], rule)
    r.emit(Kind.RESIZE, node, (source,), rows=rows, cols=cols)


Readers = dict[str, Any]
READERS: Readers = {
    "Conv": _conv,
    "MaxPool": _pool,
    "AveragePool": _pool,
    "Relu": _relu,
    "Clip": _clip,
    "LeakyRelu": _activation(Act.LEAKY, ("alpha", 0.01)),
    "Sigmoid": _activation(Act.SIGMOID),
    "Tanh": _activation(Act.TANH),
    "HardSigmoid": _activation(Act.HARDSIGMOID, ("alpha", 0.2), ("beta", 0.5)),
    "HardSwish": _activation(Act.HARDSWISH),
    "BatchNormalization": _batch_norm,
    "Concat": _concat,
    "Split": _split,
    "Resize": _resize,
    "Upsample": _resize,
    **dict.fromkeys(_OPERATORS, _binary),
}

_WHY = {
    "GlobalAveragePool": "global pooling mixes every position",
    "GlobalMaxPool": "global pooling mixes every position",
    "ReduceMean": "a mean over positions mixes them all",
    "Softmax": "softmax mixes positions",
    "MatMul": "matrix multiplication mixes positions",
    "Gemm": "a fully connected layer mixes positions",
    "Reshape": "reshape leaves the picture's plane",
    "Flatten": "flatten leaves the picture's plane",
    "Transpose": "transpose leaves the picture's plane",
}
