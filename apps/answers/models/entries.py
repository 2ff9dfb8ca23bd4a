"""The dynamic tier: generated answers, client fills, and promotions that point at golden answers."""

from __future__ import annotations

from typing import ClassVar

from django.db import models
from django.db.models.functions import Now
from django.utils.translation import gettext_lazy as _
from pgvector.django import HalfVectorField

from apps.access.models import Row
from apps.answers.models.golden import GoldenAnswer
from apps.answers.models.namespaces import Namespace


class Entries(models.QuerySet["Entry"]):
    """Reads of the dynamic tier."""

    def live(self) -> Entries:
        """Keep what may be served now, by the database's clock."""
        return self.filter(expires_at__gt=Now(), suspended_at=None)

    def held(self) -> Entries:
        """Give these rows as ones to change, locked in the one order in which everybody locks entries."""
        keys = self.order_by("pk").select_for_update(of=("self",), no_key=True).values("pk")
        return Entry.objects.filter(pk__in=keys)


class Entry(Row):
    """One answer under one question and context; a promoted entry holds no text, it points."""

    class Origin(models.TextChoices):
        """Where the answer comes from."""

        GENERATED = "generated", _("Generated")
        CLIENT = "client", _("Filled by a client")
        GOLDEN = "golden", _("Promoted")

    namespace = models.ForeignKey(Namespace, models.CASCADE, related_name="entries")
    question = models.TextField()
    digest = models.BinaryField(max_length=32)
    context = models.BinaryField(max_length=32, default=b"")
    embedder = models.CharField(max_length=80)
    vector = HalfVectorField(null=True)
    origin = models.CharField(max_length=10, choices=Origin)
    answer = models.TextField(null=True, blank=True)  # noqa: DJ001 - null says "points at a golden answer"
    golden = models.ForeignKey(GoldenAnswer, models.CASCADE, null=True, blank=True, related_name="promotions")
    golden_version = models.PositiveIntegerField(null=True)
    verification = models.ForeignKey(
        "Verification", models.SET_NULL, null=True, blank=True, related_name="promoted_entries"
    )
    by = models.CharField(max_length=64, blank=True)
    written_at = models.DateTimeField(db_default=Now())
    expires_at = models.DateTimeField()
    hits = models.PositiveIntegerField(default=0)
    last_hit_at = models.DateTimeField(null=True)
    suspended_at = models.DateTimeField(null=True)

    objects = Entries.as_manager()

    class Meta:
        verbose_name_plural = "entries"
        constraints: ClassVar = [
            models.UniqueConstraint(fields=["namespace", "context", "digest"], name="one_entry_per_key"),
            models.CheckConstraint(
                condition=models.Q(answer=None, golden__isnull=False, origin="golden")
                | models.Q(answer__isnull=False, golden=None),
                name="an_entry_has_text_or_points",
            ),
        ]
        indexes: ClassVar = [
            models.Index(fields=["expires_at"], name="entry_by_expiry"),
            models.Index(fields=["namespace", "-created_at"], name="entry_newest"),
        ]

    def __str__(self) -> str:
        return self.question[:80]
