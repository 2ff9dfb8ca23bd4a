"""Calibrations and replays: what a threshold would do, before it does it."""

from __future__ import annotations

from datetime import timedelta

from django.db import models

from apps.access.models import Row
from apps.answers.models.namespaces import Namespace
from apps.work.models import Work


class Calibration(Row):
    """Precision and recall against the threshold, and the thresholds proposed for an error budget."""

    namespace = models.ForeignKey(Namespace, models.CASCADE, related_name="calibrations")
    error_budget = models.FloatField()
    confidence = models.FloatField(default=0.95)
    labels = models.PositiveIntegerField(default=0)
    curve = models.JSONField(default=list)
    proposal = models.JSONField(default=dict)
    by = models.CharField(max_length=64, blank=True)

    def __str__(self) -> str:
        return f"{self.namespace} {self.error_budget:g}"


class Replay(Work):
    """A candidate policy run over recorded or uploaded traffic beside the current one."""

    task = "judge.replay"
    queue = "judge"
    lease = timedelta(minutes=10)

    namespace = models.ForeignKey(Namespace, models.CASCADE, related_name="replays")
    candidate = models.JSONField(default=dict)
    traffic = models.CharField(max_length=10, default="recorded")
    questions = models.JSONField(default=list, help_text="Uploaded traffic; empty for recorded.")
    since = models.DateTimeField(null=True, blank=True)
    result = models.JSONField(default=dict)
    by = models.CharField(max_length=64, blank=True)

    def __str__(self) -> str:
        return f"{self.namespace} {self.created_at:%Y-%m-%d %H:%M}"
