"""The benchmark of the answers cache; rows are those of the product's measuring page."""

from apps.answers.bench.running import PARTS, run

__all__ = ["PARTS", "run"]
