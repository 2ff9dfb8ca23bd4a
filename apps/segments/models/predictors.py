"""Versions of the predictor, and the work of training one."""

from __future__ import annotations

from datetime import timedelta
from typing import ClassVar

from django.db import models
from django.utils.translation import gettext_lazy as _

from apps.access.models import Row, Workspace
from apps.work.models import Work


class Predictor(Row):
    """A trained model of viewers, how it did on viewers it had not seen, and whether it serves."""

    class Kind(models.TextChoices):
        """What sort of model it is."""

        RETENTION = "retention", _("Retention curve")
        MARKOV = "markov", _("Markov chain")
        TRANSFORMER = "transformer", _("Trajectory transformer")
        SCENE = "scene", _("Scene model")

    class Role(models.TextChoices):
        """What it is for: of each role one version serves."""

        TRAJECTORY = "trajectory", _("Views")
        SCENE = "scene", _("Scenes")

    workspace = models.ForeignKey(Workspace, models.CASCADE, related_name="predictors")
    role = models.CharField(max_length=12, choices=Role, default=Role.TRAJECTORY)
    number = models.PositiveIntegerField()
    kind = models.CharField(max_length=12, choices=Kind)
    state = models.JSONField(default=dict)
    loss = models.FloatField(null=True, help_text=_("Held-out log-loss, nats a segment; of a scene model 1 - F1."))
    baseline = models.FloatField(
        null=True, help_text=_("That of the retention curve, or of the threshold, on the same cases.")
    )
    p99_ms = models.FloatField(null=True)
    examples = models.PositiveIntegerField(default=0)
    views = models.PositiveIntegerField(default=0)
    passes = models.BooleanField(default=False, help_text=_("It beats the retention curve and is quick enough."))
    serving = models.BooleanField(default=False)
    by = models.CharField(max_length=64, blank=True)

    class Meta:
        constraints: ClassVar = [
            models.UniqueConstraint(fields=["workspace", "number"], name="one_predictor_per_number"),
            models.UniqueConstraint(
                fields=["workspace", "role"], condition=models.Q(serving=True), name="one_predictor_serves"
            ),
        ]

    def __str__(self) -> str:
        return f"{self.kind} {self.number}"


class Training(Work):
    """Fit every kind of predictor on the view log, and keep what came of it."""

    task = "segments.train"
    queue = "train"
    lease = timedelta(minutes=30)

    workspace = models.ForeignKey(Workspace, models.CASCADE, related_name="trainings")
    kind = models.CharField(max_length=12, choices=Predictor.Kind, blank=True)
    result = models.JSONField(default=dict)
    by = models.CharField(max_length=64, blank=True)

    def __str__(self) -> str:
        return f"{self.created_at:%Y-%m-%d %H:%M}"
