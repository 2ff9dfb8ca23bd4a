"""The lowered network: spatial tensors, the layers between them, and the dense tail that is left to onnxruntime."""

from dataclasses import dataclass, field
from enum import IntEnum

import numpy as np
import numpy.typing as npt
import onnx

Floats = npt.NDArray[np.float32]


class Kind(IntEnum):
    """What a layer computes at one output position."""

    CONV = 0
    DEPTHWISE = 1
    GROUPED = 2
    MAXPOOL = 3
    AVGPOOL = 4
    UNARY = 5
    BINARY = 6
    COPY = 7
    RESIZE = 8
    GLOBAL = 9
    GATE = 10
    SHUFFLE = 11


class Act(IntEnum):
    """The activation applied to a result; the two parameters are in Layer.act_params."""

    NONE = 0
    CLIP = 1
    LEAKY = 2
    SIGMOID = 3
    TANH = 4
    HARDSIGMOID = 5
    HARDSWISH = 6
    SILU = 7
    AFFINE = 8


@dataclass(frozen=True)
class Tensor:
    """A feature map of height x width x channels."""

    name: str
    height: int
    width: int
    channels: int


@dataclass
class Layer:
    """One operation on feature maps; window fields are (y, x) pairs, pads (top, left, bottom, right)."""

    kind: Kind
    name: str
    inputs: tuple[int, ...]
    output: int
    kernel: tuple[int, int] = (1, 1)
    stride: tuple[int, int] = (1, 1)
    dilation: tuple[int, int] = (1, 1)
    pads: tuple[int, int, int, int] = (0, 0, 0, 0)
    groups: int = 1
    weight: Floats | None = None
    bias: Floats | None = None
    act: Act = Act.NONE
    act_params: tuple[float, float] = (0.0, 0.0)
    residual: int = -1
    operator: int = 0
    in_channel: int = 0
    out_channel: int = 0
    channels: int = 0
    rows: npt.NDArray[np.float64] | None = None
    cols: npt.NDArray[np.float64] | None = None
    absorbed: list[str] = field(default_factory=list)

    def reads(self) -> tuple[int, ...]:
        """Every tensor this layer needs."""
        return self.inputs if self.residual < 0 else (*self.inputs, self.residual)

    def macs(self) -> int:
        """Multiplications for one output position."""
        if self.kind in (Kind.CONV, Kind.DEPTHWISE, Kind.GROUPED) and self.weight is not None:
            return int(self.weight.size)
        if self.kind == Kind.GLOBAL:
            return self.channels * self.kernel[0] * self.kernel[1]
        return self.channels


@dataclass
class Network:
    """A network at one input size: layers in order, what leaves the spatial part, and the tail's ONNX."""

    tensors: list[Tensor]
    layers: list[Layer]
    boundary: list[int]
    outputs: tuple[str, ...]
    tail: onnx.ModelProto | None
    tail_index: int | None
    tail_why: str
    tail_macs: int
    nodes: list[tuple[str, str, bool, str]]

    def macs(self) -> int:
        """Multiplications of the spatial part on a whole frame."""
        return sum(lay.macs() * self.tensors[lay.output].height * self.tensors[lay.output].width for lay in self.layers)
