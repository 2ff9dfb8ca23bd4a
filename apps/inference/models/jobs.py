"""Jobs over videos, and what each frame gave."""

from __future__ import annotations

from datetime import timedelta
from typing import Any, ClassVar

from django.db import models
from django.utils.translation import gettext_lazy as _

from apps.access.models import Workspace
from apps.inference.models.networks import Network
from apps.inference.models.plans import Planned
from apps.work.models import Work


class Job(Work, Planned):
    """A video through a network: results of every frame, statistics, a report."""

    task = "infer.run"
    queue = "infer"
    lease = timedelta(minutes=2)
    max_attempts = 5

    workspace = models.ForeignKey(Workspace, models.CASCADE, related_name="inference_jobs")
    network = models.ForeignKey(Network, models.CASCADE, related_name="jobs")
    title = models.CharField(max_length=200, blank=True)
    file = models.CharField(max_length=1000, help_text=_("Inside the media folder."))
    uploaded = models.BooleanField(default=False)
    sha256 = models.CharField(max_length=64, blank=True)
    video = models.JSONField(default=dict, help_text=_("Width, height, rate and codec of the video."))
    done = models.PositiveIntegerField(default=0)
    total = models.PositiveIntegerField(null=True)
    stats = models.JSONField(default=dict)
    source = models.ForeignKey("self", models.CASCADE, null=True, related_name="repeats")
    annotated = models.CharField(max_length=255, blank=True)
    by = models.CharField(max_length=64, blank=True)

    class Meta:
        indexes: ClassVar = [
            models.Index(fields=["workspace", "-created_at"], name="inference_jobs_newest"),
            models.Index(fields=["network", "sha256", "mode"], name="inference_jobs_same"),
        ]

    def __str__(self) -> str:
        return self.title or str(self.pk)

    @property
    def stored(self) -> bool:
        """Whether it was answered with the results of an earlier job."""
        return self.source_id is not None

    @property
    def progress(self) -> dict[str, int | None]:
        """How many frames are done, of how many; the total is None while nobody knows."""
        return {"done": self.done, "total": self.total}

    def rows(self) -> models.QuerySet[Frame]:
        """Give the frames in order: its own, or those of the job whose results it was given."""
        return Frame.objects.filter(job_id=self.source_id or self.pk).order_by("number")

    def told(self) -> dict[str, Any]:
        """Say how it stands, as progress is sent to whoever watches."""
        about = {"id": str(self.pk), "status": self.status, "progress": self.progress}
        return {**about, "stats": self.stats or None, "stored": self.stored, "error": self.error}


class Frame(models.Model):
    """What one frame gave, and how it came about; times in wall milliseconds."""

    class Outcome(models.TextChoices):
        """The outcome words."""

        REUSED = "reused", _("Reused")
        PARTIAL = "partial", _("Partial")
        DENSE = "dense", _("Dense")

    job = models.ForeignKey(Job, models.CASCADE, related_name="frames")
    number = models.PositiveIntegerField()
    outcome = models.CharField(max_length=8, choices=Outcome)
    reason = models.CharField(max_length=20, blank=True)
    dirty_share = models.FloatField()
    work_share = models.FloatField()
    bail_out = models.BooleanField(default=False)
    cached_ms = models.FloatField()
    plain_ms = models.FloatField(null=True)
    agreement = models.FloatField(null=True)
    result = models.JSONField()
    grid = models.BinaryField(help_text=_("Per block: what was redone, and where pixels changed."))
    picture = models.BinaryField(null=True, help_text=_("A small JPEG of the frame."))

    LIGHT: ClassVar = (
        "number", "outcome", "reason", "dirty_share", "work_share", "bail_out", "cached_ms", "plain_ms", "agreement",
        "result",
    )  # fmt: skip

    class Meta:
        constraints: ClassVar = [models.UniqueConstraint(fields=["job", "number"], name="one_row_per_frame")]

    def __str__(self) -> str:
        return f"{self.job_id} {self.number}"
