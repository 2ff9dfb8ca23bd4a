"""Edges, what they hold, what they are told to do, and what is pinned."""

from __future__ import annotations

from typing import ClassVar

from django.db import models
from django.utils.translation import gettext_lazy as _

from apps.access.models import Row, Workspace
from apps.segments.models.videos import Video


class Edge(Row):
    """An nginx edge and what its agent reported last."""

    workspace = models.ForeignKey(Workspace, models.CASCADE, related_name="edges")
    name = models.CharField(max_length=80)
    url = models.CharField(max_length=500, blank=True)
    shadow = models.BooleanField(default=True, help_text=_("Plans are decided and logged, and nothing is done."))
    line_bps = models.FloatField(default=100e6, help_text=_("What its line to the origin carries, bits a second."))
    capacity_bytes = models.PositiveBigIntegerField(default=0)
    occupied_bytes = models.PositiveBigIntegerField(default=0)
    pinned_bytes = models.PositiveBigIntegerField(default=0)
    load = models.FloatField(default=0)
    retransmission = models.FloatField(default=0)
    turnover_s = models.FloatField(default=0)
    limit_bps = models.FloatField(default=0)
    limit_changed_at = models.DateTimeField(null=True)
    mode = models.CharField(max_length=10, default="shadow", help_text=_("What the agent says it does."))
    sequence = models.BigIntegerField(default=0, help_text=_("Of the last report that was counted."))
    windows = models.JSONField(default=list, help_text=_("Origin bytes under the plan and under LRU, newest last."))
    usual_hit = models.FloatField(null=True, help_text=_("Byte hit rate it usually has."))
    byte_hit = models.FloatField(null=True, help_text=_("Byte hit rate of the last minutes."))
    collapsed = models.JSONField(default=dict, help_text=_("The alarm that is open, if any."))
    measures = models.JSONField(default=list, help_text=_("Measures against a collapse that are in force."))
    seen_at = models.DateTimeField(null=True)

    class Meta:
        constraints: ClassVar = [models.UniqueConstraint(fields=["workspace", "name"], name="one_edge_per_name")]

    def __str__(self) -> str:
        return self.name


class Held(models.Model):
    """A file that lies at an edge, as its agent told."""

    edge = models.ForeignKey(Edge, models.CASCADE, related_name="held")
    path = models.CharField(max_length=2000)
    bytes = models.PositiveBigIntegerField()

    class Meta:
        constraints: ClassVar = [models.UniqueConstraint(fields=["edge", "path"], name="held_once")]

    def __str__(self) -> str:
        return self.path


class Plan(Row):
    """What an edge is to do until the next plan, and what came of it."""

    edge = models.ForeignKey(Edge, models.CASCADE, related_name="plans")
    prewarm = models.JSONField(default=list)
    evict = models.JSONField(default=list)
    pin = models.JSONField(default=list)
    refused = models.JSONField(default=list)
    kept = models.PositiveIntegerField(default=0)
    budget_bytes = models.PositiveBigIntegerField(default=0)
    limit_bps = models.FloatField(default=0)
    shadow = models.BooleanField(default=True)
    result = models.JSONField(default=dict)
    answered_at = models.DateTimeField(null=True)

    class Meta:
        indexes: ClassVar = [models.Index(fields=["edge", "-id"], name="plans_newest")]

    def __str__(self) -> str:
        return f"{self.edge} {self.created_at:%H:%M:%S}"


class Pin(Row):
    """Segments that stay at every edge for good: a whole video, or one segment of it."""

    workspace = models.ForeignKey(Workspace, models.CASCADE, related_name="pins")
    video = models.ForeignKey(Video, models.CASCADE, related_name="pins")
    index = models.PositiveIntegerField(null=True, blank=True, help_text=_("Empty for the whole video."))
    reason = models.CharField(max_length=200, blank=True)
    by = models.CharField(max_length=64, blank=True)

    class Meta:
        constraints: ClassVar = [
            models.UniqueConstraint(fields=["video", "index"], name="pinned_once", nulls_distinct=False)
        ]

    def __str__(self) -> str:
        return f"{self.video} {'' if self.index is None else self.index}"
