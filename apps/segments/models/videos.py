"""Videos, the segments that an edge may hold, and what is known of each moment."""

from __future__ import annotations

import secrets
from datetime import timedelta
from typing import ClassVar

from django.contrib.postgres.fields import ArrayField
from django.db import models
from django.utils.translation import gettext_lazy as _
from pgvector.django import HalfVectorField

from apps.access.models import Workspace
from apps.work.models import Work


def secret() -> str:
    """Make the part of a video's address that nobody guesses."""
    return secrets.token_hex(12)


class Video(Work):
    """A video: uploaded and cut into segments here, or an HLS manifest that is there already."""

    task = "segments.ingest"
    queue = "prefetch"
    lease = timedelta(minutes=5)

    class Kind(models.TextChoices):
        """What sort of video it is; kinds have windows and feature weights of their own."""

        EDUCATION = "education", _("Education")
        FILM = "film", _("Film")
        SPORT = "sport", _("Sport")
        SHORT = "short", _("Short")
        LIVE = "live", _("Live")

    workspace = models.ForeignKey(Workspace, models.CASCADE, related_name="videos")
    title = models.CharField(max_length=200)
    kind = models.CharField(max_length=10, choices=Kind, default=Kind.EDUCATION)
    course = models.CharField(max_length=120, blank=True)
    tags = ArrayField(models.CharField(max_length=60), default=list, blank=True)
    manifest = models.CharField(max_length=2000, blank=True, help_text=_("The address of an HLS playlist."))
    file = models.CharField(max_length=500, blank=True, help_text=_("The upload, inside the media folder."))
    captions = models.TextField(blank=True)
    outline = models.JSONField(default=list, blank=True)
    links = models.JSONField(default=dict, blank=True, help_text=_("Exercises and error notebooks."))
    secret = models.CharField(max_length=24, default=secret, editable=False)
    duration_s = models.FloatField(null=True, editable=False)
    renditions = models.JSONField(default=list, editable=False)
    done = models.FloatField(default=0, editable=False, help_text=_("Share of the work that is done."))
    features_at = models.DateTimeField(null=True, editable=False)
    by = models.CharField(max_length=64, blank=True)

    class Meta:
        indexes: ClassVar = [
            models.Index(fields=["workspace", "-id"], name="videos_newest"),
            models.Index(fields=["workspace", "course"], name="videos_of_a_course"),
        ]

    def __str__(self) -> str:
        return self.title

    @property
    def folder(self) -> str:
        """Give the last part of the address under which its own segments are served."""
        return f"{self.pk}-{self.secret}"


class Segment(models.Model):
    """One segment of one rendition; `path` is its address from the origin's root, as an edge keys it."""

    video = models.ForeignKey(Video, models.CASCADE, related_name="segments")
    rendition = models.PositiveSmallIntegerField()
    index = models.PositiveIntegerField()
    start_s = models.FloatField()
    duration_s = models.FloatField()
    bytes = models.PositiveBigIntegerField()
    path = models.CharField(max_length=2000)

    class Meta:
        constraints: ClassVar = [
            models.UniqueConstraint(fields=["video", "rendition", "index"], name="one_segment_per_place")
        ]

    def __str__(self) -> str:
        return f"{self.video_id} {self.rendition}/{self.index}"


class Moment(models.Model):
    """What is known of one segment's content, whatever the rendition."""

    video = models.ForeignKey(Video, models.CASCADE, related_name="moments")
    index = models.PositiveIntegerField()
    text = models.TextField(blank=True)
    vector = HalfVectorField(dimensions=256, null=True)
    density = models.FloatField(default=0, help_text=_("Knowledge density, 0 to 1."))
    continuity = models.FloatField(default=1, help_text=_("0 after a cut, 1 in mid-scene."))
    cuts = models.PositiveIntegerField(default=0)
    point = models.CharField(max_length=200, blank=True, help_text=_("The knowledge point it belongs to."))

    class Meta:
        constraints: ClassVar = [models.UniqueConstraint(fields=["video", "index"], name="one_moment_per_index")]

    def __str__(self) -> str:
        return f"{self.video_id} {self.index}"
