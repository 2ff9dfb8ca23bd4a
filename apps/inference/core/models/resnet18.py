"""ResNet-18 (He et al., 2015), for the benchmark: the architecture with seeded weights."""

import torch
from torch import Tensor, nn
from torch.nn import functional


def _conv(inputs: int, outputs: int, kernel: int, stride: int) -> nn.Sequential:
    return nn.Sequential(nn.Conv2d(inputs, outputs, kernel, stride, kernel // 2, bias=False), nn.BatchNorm2d(outputs))


class Residual(nn.Module):
    """Two 3 x 3 convolutions and a short cut."""

    def __init__(self, inputs: int, outputs: int, stride: int) -> None:
        super().__init__()
        self.first, self.second = _conv(inputs, outputs, 3, stride), _conv(outputs, outputs, 3, 1)
        self.short = _conv(inputs, outputs, 1, stride) if stride > 1 or inputs != outputs else nn.Identity()

    def forward(self, x: Tensor) -> Tensor:
        """Map (n, inputs, h, w) to (n, outputs, h / stride, w / stride)."""
        y: Tensor = self.second(functional.relu(self.first(x)))
        return functional.relu(y + self.short(x))


class ResNet18(nn.Module):
    """The whole classifier."""

    def __init__(self, classes: int = 1000) -> None:
        super().__init__()
        self.stem, self.pool = _conv(3, 64, 7, 2), nn.MaxPool2d(3, 2, 1)
        plan = [(64, 64, 1), (64, 64, 1), (64, 128, 2), (128, 128, 1), (128, 256, 2), (256, 256, 1)]
        self.body = nn.Sequential(*[Residual(*p) for p in [*plan, (256, 512, 2), (512, 512, 1)]])
        self.head = nn.Linear(512, classes)

    def forward(self, x: Tensor) -> Tensor:
        """Map pictures (n, 3, h, w) to logits (n, classes)."""
        x = self.body(self.pool(functional.relu(self.stem(x))))
        logits: Tensor = self.head(functional.adaptive_avg_pool2d(x, 1).flatten(1))
        return logits


def seeded(seed: int = 0) -> ResNet18:
    """Random weights from a seed; normalisation statistics measured on noise, so that activations stay sane."""
    torch.manual_seed(seed)
    module = ResNet18()
    for norm in (m for m in module.modules() if isinstance(m, nn.BatchNorm2d)):
        norm.momentum = None
    with torch.no_grad():
        module.train()(torch.randn(4, 3, 128, 128))
    return module.eval()
