"""Registered networks: what they are, and what can be reused in them."""

from __future__ import annotations

from datetime import timedelta
from typing import ClassVar

from django.conf import settings
from django.contrib.postgres.fields import ArrayField
from django.db import models
from django.utils.translation import gettext_lazy as _

from apps.access.models import Workspace
from apps.inference.core.tracks import Recipe
from apps.work.models import Work


class Network(Work):
    """An ONNX network of a workspace; one that comes with the product is prepared by the worker first."""

    task = "infer.prepare"
    queue = "infer"
    lease = timedelta(minutes=5)

    class Task(models.TextChoices):
        """How the outputs are read."""

        CLASSIFICATION = "classification", _("Classification")
        DETECTION = "detection", _("Detection")
        RAW = "raw", _("Raw outputs")

    class Layout(models.TextChoices):
        """How the input is laid out."""

        NCHW = "NCHW", "NCHW"

    workspace = models.ForeignKey(Workspace, models.CASCADE, related_name="networks")
    name = models.CharField(max_length=120)
    purpose = models.CharField(max_length=16, choices=Task, default=Task.CLASSIFICATION)
    input_width = models.PositiveIntegerField(default=0)
    input_height = models.PositiveIntegerField(default=0)
    layout = models.CharField(max_length=4, choices=Layout, default=Layout.NCHW)
    mean = ArrayField(models.FloatField(), default=list)
    std = ArrayField(models.FloatField(), default=list)
    labels = models.JSONField(default=list)
    file = models.CharField(max_length=255, blank=True, help_text=_("Inside the media folder."))
    sha256 = models.CharField(max_length=64, blank=True)
    size_bytes = models.PositiveBigIntegerField(default=0)
    analysis = models.JSONField(default=dict)
    shipped = models.CharField(max_length=60, blank=True, help_text=_("Its name among the networks of the product."))
    by = models.CharField(max_length=64, blank=True)

    class Meta:
        constraints: ClassVar = [
            models.UniqueConstraint(fields=["workspace", "name"], name="one_network_of_a_name_per_workspace")
        ]

    def __str__(self) -> str:
        return self.name

    @property
    def ready(self) -> bool:
        """Whether it may be run."""
        return self.status == self.Status.DONE

    def recipe(self) -> Recipe:
        """Say it in the engine's words."""
        return Recipe(
            path=str(settings.MEDIA_ROOT / self.file),
            height=self.input_height,
            width=self.input_width,
            mean=tuple(self.mean),
            std=tuple(self.std),
            task=self.purpose,
            labels=tuple(self.labels),
        )
