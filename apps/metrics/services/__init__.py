"""Verbs of metrics: count, flush, fold into rows, read series, say how things stand, tell who wants to know."""

from apps.metrics.services.alarming import Waiting, notify, register_reviews, watch
from apps.metrics.services.counting import count, flush, observe
from apps.metrics.services.folding import fold
from apps.metrics.services.health import heartbeat, readiness, register_check
from apps.metrics.services.notifying import perform, remove, save, wake
from apps.metrics.services.pressure import rest_s
from apps.metrics.services.reading import CACHES, OUTCOMES, series, subjects
from apps.metrics.services.saving import Day, Saving, register_savings, saved
from apps.metrics.services.standing import alarms, one_of_many, register, runbook, snapshot

__all__ = [
    "CACHES",
    "OUTCOMES",
    "Day",
    "Saving",
    "Waiting",
    "alarms",
    "count",
    "flush",
    "fold",
    "heartbeat",
    "notify",
    "observe",
    "one_of_many",
    "perform",
    "readiness",
    "register",
    "register_check",
    "register_reviews",
    "register_savings",
    "remove",
    "rest_s",
    "runbook",
    "save",
    "saved",
    "series",
    "snapshot",
    "subjects",
    "wake",
    "watch",
]
