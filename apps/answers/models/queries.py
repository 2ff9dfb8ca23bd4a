"""What was asked and served: the log behind provenance, replay and feedback."""

from __future__ import annotations

from typing import ClassVar

from django.contrib.postgres.fields import ArrayField
from django.db import models
from django.utils.translation import gettext_lazy as _

from apps.access.models import Row
from apps.answers.models.namespaces import Namespace


class Query(Row):
    """One served question; plain ids instead of foreign keys, so that purging never rewrites history."""

    class Outcome(models.TextChoices):
        """The outcome words of the contract."""

        STATIC_HIT = "static_hit", _("Static hit")
        DYNAMIC_HIT = "dynamic_hit", _("Dynamic hit")
        MISS = "miss", _("Miss")
        BYPASS = "bypass", _("Bypass")

    # No constraint and no index of its own: each row is written while a client waits, checking the constraint locks the
    # namespace's row, and two indexes begin with the namespace already.
    namespace = models.ForeignKey(
        Namespace, models.CASCADE, related_name="queries", db_constraint=False, db_index=False
    )
    by = models.CharField(max_length=64, blank=True)
    question = models.TextField()
    digest = models.BinaryField(max_length=32)
    context = models.BinaryField(max_length=32, default=b"")
    outcome = models.CharField(max_length=12, choices=Outcome)
    origin = models.CharField(max_length=10, blank=True)
    reason = models.CharField(max_length=60, blank=True)
    golden_id = models.UUIDField(null=True)
    golden_version = models.PositiveIntegerField(null=True)
    entry_id = models.UUIDField(null=True)
    verification_id = models.UUIDField(null=True)
    s_static = models.FloatField(null=True)
    s_dynamic = models.FloatField(null=True)
    guards = ArrayField(models.CharField(max_length=40), default=list)
    grey = models.BooleanField(default=False)
    total_ms = models.FloatField(default=0)

    class Meta:
        verbose_name_plural = "queries"
        indexes: ClassVar = [
            models.Index(fields=["namespace", "-created_at"], name="query_newest"),
            models.Index(fields=["namespace", "digest"], name="query_by_question"),
            models.Index(fields=["golden_id"], name="query_by_golden", condition=models.Q(golden_id__isnull=False)),
            models.Index(fields=["entry_id"], name="query_by_entry", condition=models.Q(entry_id__isnull=False)),
        ]

    def __str__(self) -> str:
        return self.question[:80]


class Feedback(Row):
    """Good or bad, said of a served answer."""

    class Verdict(models.TextChoices):
        """The two things a client can say."""

        GOOD = "good", _("Good")
        BAD = "bad", _("Bad")

    query = models.ForeignKey(Query, models.CASCADE, related_name="feedback")
    verdict = models.CharField(max_length=4, choices=Verdict)
    note = models.TextField(blank=True)
    by = models.CharField(max_length=64, blank=True)

    class Meta:
        verbose_name_plural = "feedback"

    def __str__(self) -> str:
        return f"{self.verdict}: {self.note[:60]}"
