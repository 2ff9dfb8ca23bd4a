"""Work for the judge, labels that teach it, and the canary runs that watch it."""

from __future__ import annotations

from datetime import timedelta
from typing import ClassVar

from django.db import models
from django.utils.translation import gettext_lazy as _

from apps.access.models import Row
from apps.answers.models.golden import GoldenAnswer
from apps.answers.models.namespaces import Namespace
from apps.work.models import Work


class Verification(Work):
    """A near miss for the judge: may this golden answer be served for that question?"""

    class Verdict(models.TextChoices):
        """What the judge said; anything unreadable is UNSURE."""

        APPROVE = "APPROVE", _("Approve")
        REJECT = "REJECT", _("Reject")
        UNSURE = "UNSURE", _("Unsure")

    task = "judge.verify"
    queue = "judge"
    lease = timedelta(minutes=3)

    namespace = models.ForeignKey(Namespace, models.CASCADE, related_name="verifications")
    question = models.TextField()
    digest = models.BinaryField(max_length=32)
    golden = models.ForeignKey(GoldenAnswer, models.CASCADE, related_name="verifications")
    golden_version = models.PositiveIntegerField()
    golden_question = models.TextField()
    judge = models.CharField(max_length=80, help_text=_("The judge and its version."))
    similarity = models.FloatField()
    margin = models.FloatField(null=True)
    features = models.JSONField(default=dict)
    verdict = models.CharField(max_length=8, choices=Verdict, blank=True)
    scores = models.JSONField(default=dict)
    reason = models.TextField(blank=True)
    tokens = models.PositiveIntegerField(default=0)
    judged_at = models.DateTimeField(null=True)
    judged_by = models.CharField(max_length=80, blank=True)
    promotion = models.CharField(max_length=120, blank=True, help_text=_("promoted, or why it was refused"))

    class Meta:
        constraints: ClassVar = [
            models.UniqueConstraint(
                fields=["namespace", "digest", "golden", "golden_version", "judge"],
                name="one_verification_per_pair",
            )
        ]
        indexes: ClassVar = [
            models.Index(fields=["namespace", "-created_at"], name="verification_newest"),
            models.Index(fields=["status", "sent_at"], name="verification_by_status"),
            models.Index(fields=["namespace", "verdict", "status"], name="verification_by_verdict"),
        ]

    def __str__(self) -> str:
        return f"{self.question[:60]} ~ {self.golden_question[:60]}"


class Label(Row):
    """A pair of questions that somebody said mean the same, or not; what judges and thresholds learn from."""

    class Source(models.TextChoices):
        """Who said so."""

        CURATOR = "curator", _("Curator")
        JUDGE = "judge", _("Judge")
        FEEDBACK = "feedback", _("Feedback")
        UPLOAD = "upload", _("Uploaded")

    namespace = models.ForeignKey(Namespace, models.CASCADE, related_name="labels")
    question = models.TextField()
    golden_question = models.TextField()
    golden = models.ForeignKey(GoldenAnswer, models.SET_NULL, null=True, blank=True, related_name="labels")
    similarity = models.FloatField()
    margin = models.FloatField(null=True)
    features = models.JSONField(default=dict)
    same = models.BooleanField()
    source = models.CharField(max_length=10, choices=Source)
    by = models.CharField(max_length=64, blank=True)
    canary = models.BooleanField(default=False, help_text=_("Run by every judge on a schedule, to watch it."))
    verification = models.ForeignKey(Verification, models.SET_NULL, null=True, blank=True, related_name="labels")

    class Meta:
        indexes: ClassVar = [models.Index(fields=["namespace", "-created_at"], name="label_newest")]

    def __str__(self) -> str:
        return f"{self.question[:60]} {'=' if self.same else '≠'} {self.golden_question[:60]}"


class CanaryRun(Row):
    """One run of a judge over the canary set: how often it agreed, how often it approved wrongly."""

    namespace = models.ForeignKey(Namespace, models.CASCADE, related_name="canary_runs")
    judge = models.CharField(max_length=80)
    total = models.PositiveIntegerField()
    decided = models.PositiveIntegerField(default=0)
    agreed = models.PositiveIntegerField()
    approved = models.PositiveIntegerField()
    false_approvals = models.PositiveIntegerField()
    false_approve_upper = models.FloatField(help_text=_("Upper 95% bound of the false-approve rate."))

    def __str__(self) -> str:
        return f"{self.judge} {self.agreed}/{self.total}"
