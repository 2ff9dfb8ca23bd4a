"""Verbs of metrics: count on the request path, flush to Valkey, fold into rows, read series, say how things stand."""

from apps.metrics.services.counting import count, flush, observe
from apps.metrics.services.folding import fold
from apps.metrics.services.health import heartbeat, readiness, register_check
from apps.metrics.services.reading import CACHES, OUTCOMES, series, subjects
from apps.metrics.services.standing import register, snapshot

__all__ = [
    "CACHES",
    "OUTCOMES",
    "count",
    "flush",
    "fold",
    "heartbeat",
    "observe",
    "readiness",
    "register",
    "register_check",
    "series",
    "snapshot",
    "subjects",
]
