"""torch module to ONNX; run by commands and workers only, since it imports torch."""

import io
import warnings
from typing import Any

import torch


def to_onnx(module: torch.nn.Module, channels: int, height: int, width: int) -> bytes:
    """ONNX of a module in inference mode, with free height and width, opset 17."""
    module.eval()
    sink: Any = io.BytesIO()
    free = {"input": {2: "height", 3: "width"}}
    with warnings.catch_warnings(), torch.no_grad():
        # The TorchScript exporter needs no further package; its deprecation is known.
        warnings.simplefilter("ignore")
        torch.onnx.export(
            module, (torch.zeros(1, channels, height, width),), sink, dynamo=False, opset_version=17,
            input_names=["input"], output_names=["output"], dynamic_axes=free,
        )  # fmt: skip
    return bytes(sink.getvalue())
