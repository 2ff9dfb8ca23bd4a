"""Streams: sessions of single pictures, each bound to the worker that holds its cache."""

from __future__ import annotations

from typing import ClassVar

from django.db import models
from django.db.models.functions import Now
from django.utils.translation import gettext_lazy as _

from apps.access.models import Row, Workspace
from apps.inference.models.networks import Network
from apps.inference.models.plans import Planned


class Stream(Row, Planned):
    """A client's pictures in order; open until it is closed or has been idle too long."""

    class Status(models.TextChoices):
        """Whether it takes pictures."""

        OPEN = "open", _("Open")
        CLOSED = "closed", _("Closed")
        EXPIRED = "expired", _("Expired")

    workspace = models.ForeignKey(Workspace, models.CASCADE, related_name="inference_streams")
    network = models.ForeignKey(Network, models.CASCADE, related_name="streams")
    status = models.CharField(max_length=8, choices=Status, default=Status.OPEN)
    worker = models.CharField(max_length=120, blank=True, help_text=_("Who holds its cache."))
    frames = models.PositiveBigIntegerField(default=0)
    reused = models.PositiveBigIntegerField(default=0)
    partial = models.PositiveBigIntegerField(default=0)
    dense = models.PositiveBigIntegerField(default=0)
    width = models.PositiveIntegerField(default=0)
    height = models.PositiveIntegerField(default=0)
    memory_bytes = models.PositiveBigIntegerField(default=0)
    agreement = models.FloatField(null=True, help_text=_("With the plain runs beside it."))
    measured = models.PositiveIntegerField(default=0, help_text=_("How many frames those stand for."))
    last_frame_at = models.DateTimeField(db_default=Now())
    closed_at = models.DateTimeField(null=True)
    by = models.CharField(max_length=64, blank=True)

    class Meta:
        indexes: ClassVar = [models.Index(fields=["workspace", "-created_at"], name="inference_streams_newest")]

    def __str__(self) -> str:
        return str(self.pk)
