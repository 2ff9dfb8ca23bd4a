"""Random convolutional networks as ONNX, drawn by hypothesis, and frames that change in places."""

from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any

import numpy as np
import onnx
from hypothesis import strategies as st
from onnx import TensorProto, helper


@dataclass
class Net:
    """A network being built; feature maps are (name, channels, height, width)."""

    seed: int
    nodes: list[Any] = field(default_factory=list)
    constants: list[Any] = field(default_factory=list)
    maps: list[tuple[str, int, int, int]] = field(default_factory=list)

    def __post_init__(self) -> None:
        self.rng = np.random.default_rng(self.seed)

    def constant(self, value: Any, kind: Any = np.float32) -> str:
        name = f"c{len(self.constants)}"
        self.constants.append(onnx.numpy_helper.from_array(np.asarray(value, dtype=kind), name))
        return name

    def node(self, op: str, inputs: list[str], shape: tuple[int, int, int], **attributes: Any) -> None:
        name = f"t{len(self.nodes)}"
        self.nodes.append(helper.make_node(op, inputs, [name], name=f"n{len(self.nodes)}", **attributes))
        self.maps.append((name, *shape))

    def model(self, outputs: list[str], opset: int = 17) -> bytes:
        first = self.maps[0]
        ranks = {"logits": ["n", "k"]}
        graph = helper.make_graph(
            self.nodes,
            "net",
            [helper.make_tensor_value_info(first[0], TensorProto.FLOAT, [1, *first[1:]])],
            [helper.make_tensor_value_info(o, TensorProto.FLOAT, ranks.get(o, list("nchw"))) for o in outputs],
            self.constants,
        )
        made = helper.make_model(graph, opset_imports=[helper.make_opsetid("", opset)], ir_version=8)
        return bytes(made.SerializeToString())


Step = Callable[[Any, Net, tuple[str, int, int, int]], None]


def _window(draw: Any, h: int, w: int, most: int = 5) -> dict[str, Any] | None:
    kernel = [draw(st.integers(1, most)), draw(st.integers(1, most))]
    stride = [draw(st.integers(1, 3)), draw(st.integers(1, 3))]
    dilation = [draw(st.integers(1, 2)), draw(st.integers(1, 2))]
    pads = [draw(st.integers(0, k - 1)) for k in kernel + kernel]
    out = [
        (n + pads[i] + pads[i + 2] - (kernel[i] - 1) * dilation[i] - 1) // stride[i] + 1 for i, n in enumerate((h, w))
    ]
    if min(out) < 1:
        return None
    return {"kernel_shape": kernel, "strides": stride, "dilations": dilation, "pads": pads, "out": tuple(out)}


def conv(draw: Any, net: Net, source: tuple[str, int, int, int]) -> None:
    name, c, h, w = source
    window = _window(draw, h, w)
    if window is None:
        return
    out = window.pop("out")
    groups = draw(st.sampled_from([g for g in (1, 1, 2, c) if c % g == 0]))
    outputs = groups * draw(st.integers(1, max(1, 8 // groups)))
    shape = (outputs, c // groups, *window["kernel_shape"])
    weight = net.rng.normal(size=shape) / np.sqrt(np.prod(shape[1:]))
    inputs = [name, net.constant(weight)]
    if draw(st.booleans()):
        inputs.append(net.constant(net.rng.normal(size=outputs) * 0.1))
    net.node("Conv", inputs, (outputs, *out), group=groups, **window)


def same(draw: Any, net: Net, source: tuple[str, int, int, int]) -> None:
    name, c, h, w = source
    kernel, stride = draw(st.integers(1, 5)), draw(st.integers(1, 2))
    auto = draw(st.sampled_from(["SAME_UPPER", "SAME_LOWER"]))
    weight = net.rng.normal(size=(c, 1, kernel, kernel)) / kernel
    shape = (c, -(-h // stride), -(-w // stride))
    net.node("Conv", [name, net.constant(weight)], shape, group=c, auto_pad=auto, strides=[stride, stride])


def pool(draw: Any, net: Net, source: tuple[str, int, int, int]) -> None:
    name, c, h, w = source
    window = _window(draw, h, w, 3)
    if window is None:
        return
    out = window.pop("out")
    op = draw(st.sampled_from(["MaxPool", "AveragePool"]))
    if op == "AveragePool":
        if window.pop("dilations") != [1, 1]:
            return
        window["count_include_pad"] = draw(st.integers(0, 1))
    net.node(op, [name], (c, *out), **window)


def activation(draw: Any, net: Net, source: tuple[str, int, int, int]) -> None:
    op = draw(st.sampled_from(["Relu", "Sigmoid", "Tanh", "LeakyRelu", "HardSigmoid", "HardSwish"]))
    net.node(op, [source[0]], source[1:])


def clip(draw: Any, net: Net, source: tuple[str, int, int, int]) -> None:
    net.node("Clip", [source[0], net.constant(0.0), net.constant(draw(st.sampled_from([0.5, 6.0])))], source[1:])


def silu(draw: Any, net: Net, source: tuple[str, int, int, int]) -> None:
    net.node("Sigmoid", [source[0]], source[1:])
    net.node("Mul", [source[0], net.maps[-1][0]], source[1:])


def affine(draw: Any, net: Net, source: tuple[str, int, int, int]) -> None:
    name, c, h, w = source
    if draw(st.booleans()):
        rows = [net.constant(net.rng.uniform(0.5, 1.5, size=c)) for _ in range(4)]
        net.node("BatchNormalization", [name, *rows], (c, h, w))
        return
    op = draw(st.sampled_from(["Add", "Mul", "Sub"]))
    value = net.constant(net.rng.uniform(0.5, 1.5, size=(1, c, 1, 1)))
    net.node(op, [name, value] if draw(st.booleans()) else [value, name], (c, h, w))


def combine(draw: Any, net: Net, source: tuple[str, int, int, int]) -> None:
    others = [m for m in net.maps if m[1:] == source[1:]]
    other = draw(st.sampled_from(others))
    net.node(draw(st.sampled_from(["Add", "Add", "Mul", "Sub", "Max", "Min"])), [source[0], other[0]], source[1:])


def concat(draw: Any, net: Net, source: tuple[str, int, int, int]) -> None:
    others = [m for m in net.maps if m[2:] == source[2:]]
    chosen = [source, *draw(st.lists(st.sampled_from(others), min_size=1, max_size=2))]
    net.node("Concat", [m[0] for m in chosen], (sum(m[1] for m in chosen), *source[2:]), axis=1)


def resize(draw: Any, net: Net, source: tuple[str, int, int, int]) -> None:
    name, c, h, w = source
    factor = draw(st.sampled_from([2.0, 1.5, 0.5]))
    shape = (c, int(h * factor), int(w * factor))
    if min(shape) < 1:
        return
    mode = draw(st.sampled_from(["nearest", "linear"]))
    where = draw(st.sampled_from(["half_pixel", "asymmetric", "align_corners", "pytorch_half_pixel"]))
    extra = {"nearest_mode": draw(st.sampled_from(["floor", "round_prefer_floor"]))} if mode == "nearest" else {}
    scales = net.constant([1, 1, factor, factor])
    net.node("Resize", [name, "", scales], shape, mode=mode, coordinate_transformation_mode=where, **extra)


def wide(draw: Any, net: Net, source: tuple[str, int, int, int]) -> None:
    """Two 3 x 3 convolutions of whole vectors of channels, which run by tiles."""
    for channels in (16, draw(st.sampled_from([8, 16, 24]))):
        name, c, h, w = net.maps[-1] if channels != 16 or net.maps[-1][1] == 16 else source
        pads = [draw(st.integers(0, 2)) for _ in range(4)]
        out = (h + pads[0] + pads[2] - 2, w + pads[1] + pads[3] - 2)
        if min(out) < 1:
            return
        weight = net.rng.normal(size=(channels, c, 3, 3)) / np.sqrt(9 * c)
        net.node("Conv", [name, net.constant(weight)], (channels, *out), pads=pads)


STEPS: tuple[Step, ...] = (
    conv, conv, conv, wide, same, pool, activation, clip, silu, affine, combine, combine, concat, resize,
)  # fmt: skip


def _tail(net: Net, cancelling: bool) -> str:
    """Classify the mean of the last map; a mean over both signs cancels, and then rounding is much of what is left."""
    name, c, _, _ = net.maps[-1]
    weight = net.constant(net.rng.normal(size=(c, 5)))
    if not cancelling:
        net.nodes.append(helper.make_node("Relu", [name], ["positive"], name="relu"))
        name = "positive"
    net.nodes += [
        helper.make_node("GlobalAveragePool", [name], ["pooled"], name="gap"),
        helper.make_node("Flatten", ["pooled"], ["flat"], name="flat"),
        helper.make_node("Gemm", ["flat", weight], ["logits"], name="fc"),
    ]
    return "logits"


@st.composite
def networks(draw: Any, steps: tuple[Step, ...] = STEPS, *, cancelling: bool = True) -> tuple[bytes, int, int, int]:
    """ONNX bytes, channels, height, width; `cancelling` when what leaves may be the mean of both signs."""
    c, h, w = draw(st.integers(1, 4)), draw(st.integers(5, 41)), draw(st.integers(5, 41))
    net = Net(draw(st.integers(0, 2**31)), maps=[("image", c, h, w)])
    conv(draw, net, net.maps[0])
    if len(net.maps) == 1:
        net.node("Conv", ["image", net.constant(net.rng.normal(size=(3, c, 1, 1)))], (3, h, w))
    for _ in range(draw(st.integers(1, 9))):
        recent = net.maps[1:][-4:]
        draw(st.sampled_from(steps))(draw, net, draw(st.sampled_from(recent)))
    outputs = [net.maps[-1][0]]
    if draw(st.booleans()):
        outputs.append(_tail(net, cancelling))
    if draw(st.booleans()) and len(net.maps) > 3:
        outputs.append(net.maps[-2][0])
    return net.model(outputs), c, h, w


@st.composite
def changes(draw: Any, height: int, width: int) -> list[tuple[int, int, int, int]]:
    """Rectangles (top, left, high, wide) that change from one frame to the next; often none."""
    count = draw(st.integers(0, 3))
    result = []
    for _ in range(count):
        top, left = draw(st.integers(0, height - 1)), draw(st.integers(0, width - 1))
        high, wide = draw(st.integers(1, height - top)), draw(st.integers(1, width - left))
        result.append((top, left, high, wide))
    return result
