"""A namespace is a set of answers with one policy; every change of policy is kept."""

from __future__ import annotations

from typing import ClassVar

from django.core.validators import RegexValidator
from django.db import models
from django.utils.translation import gettext_lazy as _

from apps.access.models import Row, Workspace

NAME = RegexValidator(
    r"^[A-Za-z0-9][A-Za-z0-9_.-]{0,62}\Z",
    _("A name has up to 63 letters, digits, dots, dashes or underscores."),
)


class Namespace(Row):
    """A set of answers with one policy and one judge."""

    class Judge(models.TextChoices):
        """Who judges near misses here."""

        OFFLINE = "offline", _("Offline judge, fitted on your labels")
        CHAT = "chat", _("A language model over an OpenAI-compatible endpoint")
        HUMAN = "human", _("People, in the review queue")

    workspace = models.ForeignKey(Workspace, models.CASCADE, related_name="namespaces")
    name = models.CharField(max_length=63, validators=[NAME])
    policy = models.JSONField(default=dict, blank=True)
    judge = models.CharField(max_length=12, choices=Judge, default=Judge.OFFLINE)
    judge_state = models.JSONField(default=dict, editable=False, help_text=_("What the offline judge has learnt."))
    judge_version = models.CharField(max_length=80, default="offline:unfitted", editable=False)
    four_eyes = models.BooleanField(default=True, help_text=_("Authors may not approve their own text."))
    promotion_paused = models.CharField(
        max_length=255,
        blank=True,
        editable=False,
        help_text=_("Why promotion paused by itself; empty while it runs."),
    )
    drift = models.JSONField(default=list, editable=False, help_text=_("What changed against the week before."))
    drift_at = models.DateTimeField(null=True, editable=False)

    class Meta:
        constraints: ClassVar = [models.UniqueConstraint(fields=["workspace", "name"], name="one_namespace_per_name")]

    def __str__(self) -> str:
        return self.name


class PolicyChange(Row):
    """One change of a namespace's policy, so that it can be explained and undone."""

    namespace = models.ForeignKey(Namespace, models.CASCADE, related_name="policy_changes")
    before = models.JSONField(default=dict)
    after = models.JSONField(default=dict)
    by = models.CharField(max_length=64, blank=True)
    reason = models.CharField(max_length=255, blank=True)

    class Meta:
        ordering: ClassVar = ["-created_at"]

    def __str__(self) -> str:
        return f"{self.namespace} {self.created_at:%Y-%m-%d %H:%M}"
