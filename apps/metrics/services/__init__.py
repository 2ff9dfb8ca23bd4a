"""Verbs of metrics: count on the request path, flush to Valkey, fold into rows, read series, say how things stand."""

from apps.metrics.services.counting import count, flush, observe
from apps.metrics.services.folding import fold
from apps.metrics.services.health import heartbeat, readiness, register_check
from apps.metrics.services.reading import CACHES, OUTCOMES, series, subjects
from apps.metrics.services.saving import Day, Saving, register_savings, saved
from apps.metrics.services.standing import alarms, register, snapshot

__all__ = [
    "CACHES",
    "OUTCOMES",
    "Day",
    "Saving",
    "alarms",
    "count",
    "flush",
    "fold",
    "heartbeat",
    "observe",
    "readiness",
    "register",
    "register_check",
    "register_savings",
    "saved",
    "series",
    "snapshot",
    "subjects",
]
