"""Verbs of metrics: count on the request path, flush to Valkey, fold into rows, read series."""

from apps.metrics.services.counting import count, flush, observe

__all__ = ["count", "flush", "observe"]
