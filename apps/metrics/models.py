"""Rows of metrics: one per workspace, cache, subject and minute."""

from __future__ import annotations

from typing import ClassVar

from django.contrib.postgres.fields import ArrayField
from django.db import models

from apps.access.models import Workspace


class Tally(models.Model):
    """What one cache did for one subject (a namespace, a model, an edge) in one minute."""

    workspace = models.ForeignKey(Workspace, models.CASCADE, related_name="tallies")
    cache = models.CharField(max_length=12)
    subject = models.CharField(max_length=120)
    minute = models.DateTimeField()
    counts = models.JSONField(default=dict)
    latency = ArrayField(models.PositiveIntegerField(), default=list)

    class Meta:
        constraints: ClassVar = [
            models.UniqueConstraint(fields=["workspace", "cache", "subject", "minute"], name="one_tally_a_minute")
        ]
        indexes: ClassVar = [models.Index(fields=["workspace", "cache", "minute"], name="tally_by_time")]

    def __str__(self) -> str:
        return f"{self.cache} {self.subject} {self.minute:%H:%M}"
