"""Rows of metrics: what was counted by the minute and by the hour; alarms, and who is told of them."""

from __future__ import annotations

from typing import ClassVar

from django.contrib.postgres.fields import ArrayField
from django.db import models
from django.db.models.functions import Now
from django.utils.translation import gettext_lazy as _

from apps.access.models import Row, Workspace
from apps.work.models import Work


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


class Alarm(Row):
    """An alarm from its beginning to its end; while it lasts there is one row for its title."""

    workspace = models.ForeignKey(Workspace, models.CASCADE, related_name="alarms")
    title = models.CharField(max_length=120)
    detail = models.CharField(max_length=240, blank=True)
    link = models.CharField(max_length=200, blank=True)
    runbook = models.CharField(max_length=80, blank=True)
    ended_at = models.DateTimeField(null=True)

    class Meta:
        constraints: ClassVar = [
            models.UniqueConstraint(
                fields=["workspace", "title"], condition=models.Q(ended_at=None), name="one_alarm_a_title"
            )
        ]
        indexes: ClassVar = [models.Index(fields=["workspace", "-id"], name="alarm_by_workspace")]

    def __str__(self) -> str:
        return self.title


class Hook(Row):
    """Where a workspace wants to be told of alarms and reviews: a URL, or an e-mail address."""

    class Kind(models.TextChoices):
        """How it is told."""

        WEBHOOK = "webhook", _("Webhook")
        MAIL = "mail", _("E-mail")

    workspace = models.ForeignKey(Workspace, models.CASCADE, related_name="hooks")
    name = models.CharField(_("name"), max_length=80)
    kind = models.CharField(_("kind"), max_length=8, choices=Kind, default=Kind.WEBHOOK)
    address = models.CharField(_("address"), max_length=400, help_text=_("A URL, or an e-mail address."))
    secret = models.CharField(max_length=80, editable=False)
    alarms = models.BooleanField(_("alarms"), default=True)
    reviews = models.BooleanField(_("reviews"), default=False, help_text=_("At most once an hour."))
    active = models.BooleanField(_("active"), default=True)
    reviews_told_at = models.DateTimeField(null=True, editable=False)
    reviews_told = models.PositiveIntegerField(default=0, editable=False)

    class Meta:
        constraints: ClassVar = [models.UniqueConstraint(fields=["workspace", "name"], name="one_hook_a_name")]

    def __str__(self) -> str:
        return self.name


class Notice(Work):
    """One message to one hook; tried again, ever later, until it is taken or given up."""

    task = "notices.send"
    queue = "notices"

    hook = models.ForeignKey(Hook, models.CASCADE, related_name="notices")
    event = models.CharField(max_length=40)
    body = models.JSONField(default=dict)
    due_at = models.DateTimeField(db_default=Now())
    answer = models.PositiveSmallIntegerField(null=True, help_text=_("HTTP status of the last try."))

    class Meta:
        indexes: ClassVar = [
            models.Index(fields=["due_at"], condition=models.Q(status="waiting"), name="notice_waiting"),
            models.Index(fields=["sent_at"], condition=models.Q(status="queued"), name="notice_queued"),
            models.Index(fields=["leased_until"], condition=models.Q(status="running"), name="notice_running"),
        ]

    def __str__(self) -> str:
        return f"{self.event} → {self.hook_id}"
