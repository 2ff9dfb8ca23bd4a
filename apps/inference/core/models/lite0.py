"""EfficientNet-Lite0: the mobile network without squeeze-excite (Tan and Le, 2019; Lite variant, 2020)."""

from pathlib import Path

import torch
from torch import Tensor, nn
from torch.nn import functional

# Per stage: repeats, kernel, stride, expansion, input channels, output channels.
_STAGES = [
    (1, 3, 1, 1, 32, 16), (2, 3, 2, 6, 16, 24), (2, 5, 2, 6, 24, 40), (3, 3, 2, 6, 40, 80),
    (3, 5, 1, 6, 80, 112), (4, 5, 2, 6, 112, 192), (1, 3, 1, 6, 192, 320),
]  # fmt: skip


class SameConv(nn.Conv2d):
    """Convolution padded as TensorFlow does it: as much after the picture as before, the odd pixel after."""

    def forward(self, x: Tensor) -> Tensor:
        """Map (n, c, h, w) to (n, c', ceil(h / stride), ceil(w / stride))."""
        if self.kernel_size == (1, 1):
            return super().forward(x)
        pads: list[int] = []
        for size, kernel, stride in zip(x.shape[:1:-1], self.kernel_size[::-1], self.stride[::-1], strict=True):
            # Plain arithmetic only: an export must keep the padding a function of the picture's size.
            total = ((size + stride - 1) // stride - 1) * stride + kernel - size
            pads += [total // 2, total - total // 2]
        return functional.conv2d(functional.pad(x, pads), self.weight, self.bias, self.stride, 0, 1, self.groups)


def _norm(channels: int) -> nn.BatchNorm2d:
    return nn.BatchNorm2d(channels, eps=1e-3)


class Block(nn.Module):
    """Expand, filter each channel, project; add the input where shapes allow."""

    def __init__(self, kernel: int, stride: int, expand: int, inputs: int, outputs: int) -> None:
        super().__init__()
        wide = inputs * expand
        if expand > 1:
            self._expand_conv = SameConv(inputs, wide, 1, bias=False)
            self._bn0 = _norm(wide)
        self._depthwise_conv = SameConv(wide, wide, kernel, stride, groups=wide, bias=False)
        self._bn1 = _norm(wide)
        self._project_conv = SameConv(wide, outputs, 1, bias=False)
        self._bn2 = _norm(outputs)
        self.expands, self.adds = expand > 1, stride == 1 and inputs == outputs

    def forward(self, x: Tensor) -> Tensor:
        """Map (n, inputs, h, w) to (n, outputs, h / stride, w / stride)."""
        y = functional.relu6(self._bn0(self._expand_conv(x))) if self.expands else x
        y = functional.relu6(self._bn1(self._depthwise_conv(y)))
        z: Tensor = self._bn2(self._project_conv(y))
        return x + z if self.adds else z


class Lite0(nn.Module):
    """The whole classifier; parameter names are those of the published weights."""

    def __init__(self) -> None:
        super().__init__()
        self._conv_stem = SameConv(3, 32, 3, 2, bias=False)
        self._bn0 = _norm(32)
        blocks = []
        for repeats, kernel, stride, expand, inputs, outputs in _STAGES:
            blocks.append(Block(kernel, stride, expand, inputs, outputs))
            blocks += [Block(kernel, 1, expand, outputs, outputs) for _ in range(repeats - 1)]
        self._blocks = nn.ModuleList(blocks)
        self._conv_head = SameConv(320, 1280, 1, bias=False)
        self._bn1 = _norm(1280)
        self._fc = nn.Linear(1280, 1000)

    def forward(self, x: Tensor) -> Tensor:
        """Map pictures (n, 3, h, w) to logits (n, 1000)."""
        x = functional.relu6(self._bn0(self._conv_stem(x)))
        for block in self._blocks:
            x = block(x)
        x = functional.relu6(self._bn1(self._conv_head(x)))
        logits: Tensor = self._fc(functional.adaptive_avg_pool2d(x, 1).flatten(1))
        return logits


def load(weights: Path) -> Lite0:
    """The network with published weights (a state dictionary; nothing in the file is executed)."""
    module = Lite0()
    module.load_state_dict(torch.load(weights, map_location="cpu", weights_only=True))
    return module.eval()
