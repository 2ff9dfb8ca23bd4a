"""Rows of metrics: one per workspace, cache, subject and minute, and one per hour made of those."""

from __future__ import annotations

from typing import ClassVar

from django.contrib.postgres.fields import ArrayField
from django.db import models

from apps.access.models import Workspace


class Tally(models.Model):
    """What one cache did for one subject (a namespace, a model, an edge) in one minute, or in one hour."""

    MINUTE = 60
    HOUR = 3_600

    workspace = models.ForeignKey(Workspace, models.CASCADE, related_name="tallies")
    cache = models.CharField(max_length=12)
    subject = models.CharField(max_length=120)
    minute = models.DateTimeField()
    span_s = models.PositiveIntegerField(default=MINUTE)
    counts = models.JSONField(default=dict)
    latency = ArrayField(models.PositiveIntegerField(), default=list)

    class Meta:
        constraints: ClassVar = [
            models.UniqueConstraint(
                fields=["workspace", "cache", "subject", "span_s", "minute"], name="one_tally_a_span"
            )
        ]
        indexes: ClassVar = [models.Index(fields=["workspace", "cache", "span_s", "minute"], name="tally_by_span")]

    def __str__(self) -> str:
        return f"{self.cache} {self.subject} {self.minute:%H:%M}"
