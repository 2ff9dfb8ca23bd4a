"""The benchmark of the segments cache; rows are those of the product's measuring page."""

from apps.segments.bench.running import run

__all__ = ["run"]
