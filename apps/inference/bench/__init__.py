"""The benchmark of the inference cache; rows are those of the product's measuring page."""

from apps.inference.bench.running import PARTS, run

__all__ = ["PARTS", "run"]
