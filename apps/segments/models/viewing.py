"""What viewers did; who they are is only known as a keyed hash."""

from __future__ import annotations

from typing import ClassVar

from django.db import models
from django.utils.translation import gettext_lazy as _

from apps.access.models import Workspace
from apps.segments.models.videos import Video


class Event(models.Model):
    """One event of a viewing."""

    class What(models.TextChoices):
        """The event words of the contract."""

        INTENT = "intent", _("Opened the page")
        PLAY = "play", _("Play")
        HEARTBEAT = "heartbeat", _("Heartbeat")
        SEEK = "seek", _("Seek")
        PAUSE = "pause", _("Pause")
        END = "end", _("End")

    workspace = models.ForeignKey(Workspace, models.CASCADE, related_name="view_events")
    viewer = models.BinaryField(max_length=16)
    video = models.ForeignKey(Video, models.CASCADE, related_name="events")
    session = models.CharField(max_length=64)
    event = models.CharField(max_length=10, choices=What)
    position_s = models.FloatField()
    rendition = models.PositiveSmallIntegerField(default=0)
    at = models.DateTimeField()

    class Meta:
        constraints: ClassVar = [
            models.UniqueConstraint(fields=["workspace", "session", "event", "at", "viewer"], name="one_event_once")
        ]
        indexes: ClassVar = [
            models.Index(fields=["workspace", "-at"], name="events_newest"),
            models.Index(fields=["workspace", "viewer"], name="events_of_a_viewer"),
            models.Index(fields=["video", "-at"], name="events_of_a_video"),
        ]

    def __str__(self) -> str:
        return f"{self.event} {self.position_s:.0f} s"
