"""Networks with real weights that come in packages, and the export of torch modules to ONNX."""

from apps.inference.core.models.shipped import SHIPPED, Shipped, WeightsError, build, module

__all__ = ["SHIPPED", "Shipped", "WeightsError", "build", "module"]
