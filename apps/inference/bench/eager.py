"""PyTorch eager, one thread: the module itself where there is one, else the ONNX graph run operation by operation."""

from collections.abc import Callable
from typing import Any

import numpy as np
import numpy.typing as npt
import onnx
import torch
import torch.nn.functional as F  # noqa: N812

from apps.inference.core import models
from apps.inference.core.engine import Outputs
from apps.inference.core.network.loading import Graph

Floats = npt.NDArray[np.float32]
_MODULES = ("efficientnet-lite0", "resnet18")
Values = dict[str, Any]


def planes(image: npt.NDArray[np.uint8], table: Floats) -> torch.Tensor:
    """The network's input (1, 3, height, width) for a frame (height, width, 3)."""
    flat = torch.from_numpy(np.ascontiguousarray(image.transpose(2, 0, 1)).reshape(3, -1)).long()
    return torch.gather(torch.from_numpy(table), 1, flat).reshape(1, 3, *image.shape[:2])


def runner(name: str, graph: Graph, height: int, width: int) -> Callable[[torch.Tensor], Outputs]:
    """A function from the network's input to its outputs by name."""
    torch.set_num_threads(1)
    if name in _MODULES:
        module = models.module(name)
        call: Callable[[torch.Tensor], list[torch.Tensor]] = lambda x: [module(x)]  # noqa: E731
    else:
        call = _interpreter(graph.simplified(height, width), graph.input_name, graph.output_names)

    def run(x: torch.Tensor) -> Outputs:
        with torch.inference_mode():
            return {key: value.numpy() for key, value in zip(graph.output_names, call(x), strict=True)}

    return run


def _interpreter(
    model: onnx.ModelProto, given: str, wanted: tuple[str, ...]
) -> Callable[[torch.Tensor], list[torch.Tensor]]:
    constants: Values = {
        t.name: torch.from_numpy(onnx.numpy_helper.to_array(t).copy()) for t in model.graph.initializer
    }
    steps = []
    for node in model.graph.node:
        attributes = {a.name: onnx.helper.get_attribute_value(a) for a in node.attribute}
        steps.append((_OPERATIONS[node.op_type], list(node.input), node.output[0], attributes))

    def call(x: torch.Tensor) -> list[torch.Tensor]:
        values = {**constants, given: x, "": None}
        for operation, inputs, output, attributes in steps:
            values[output] = operation(attributes, *[values[name] for name in inputs])
        return [values[name] for name in wanted]

    return call


def _conv(a: Values, x: torch.Tensor, weight: torch.Tensor, bias: torch.Tensor | None = None) -> torch.Tensor:
    top, left, bottom, right = a.get("pads", (0, 0, 0, 0))
    if (top, left) != (bottom, right):
        x, top, left = F.pad(x, (left, right, top, bottom)), 0, 0
    stride, dilation = tuple(a.get("strides", (1, 1))), tuple(a.get("dilations", (1, 1)))
    return F.conv2d(x, weight, bias, stride, (top, left), dilation, a.get("group", 1))


def _transposed(a: Values, x: torch.Tensor, weight: torch.Tensor, bias: torch.Tensor | None = None) -> torch.Tensor:
    return F.conv_transpose2d(x, weight, bias, tuple(a.get("strides", (1, 1))), tuple(a.get("pads", (0, 0))[:2]))


def _resize(a: Values, x: torch.Tensor, *rest: torch.Tensor | None) -> torch.Tensor:
    sizes = rest[-1]
    assert sizes is not None
    whole = sizes.dtype == torch.int64
    size = [int(v) if whole else round(float(v) * n) for v, n in zip(sizes[2:], x.shape[2:], strict=True)]
    return F.interpolate(x, size=size, mode="nearest" if a.get("mode", b"nearest") == b"nearest" else "bilinear")


def _clip(a: Values, x: torch.Tensor, low: Any = None, high: Any = None) -> torch.Tensor:
    return torch.clamp(x, a.get("min") if low is None else float(low), a.get("max") if high is None else float(high))


def _hard_sigmoid(a: Values, x: torch.Tensor) -> torch.Tensor:
    return torch.clamp(a.get("alpha", 0.2) * x + a.get("beta", 0.5), 0, 1)


def _normalise(a: Values, x: torch.Tensor, *rest: torch.Tensor) -> torch.Tensor:
    scale, shift, mean, variance = rest
    return F.batch_norm(x, mean, variance, scale, shift, eps=a.get("epsilon", 1e-5))


_OPERATIONS: dict[str, Callable[..., torch.Tensor]] = {
    "Conv": _conv,
    "ConvTranspose": _transposed,
    "BatchNormalization": _normalise,
    "Resize": _resize,
    "Clip": _clip,
    "HardSigmoid": _hard_sigmoid,
    "GlobalAveragePool": lambda a, x: x.mean((2, 3), keepdim=True),
    "Relu": lambda a, x: F.relu(x),
    "Sigmoid": lambda a, x: torch.sigmoid(x),
    "Add": lambda a, x, y: x + y,
    "Mul": lambda a, x, y: x * y,
    "Div": lambda a, x, y: x / y,
    "Concat": lambda a, *parts: torch.cat(parts, a["axis"]),
    "Identity": lambda a, x: x,
}
