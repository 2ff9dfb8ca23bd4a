"""The static tier: golden answers, their published versions and the questions the request path searches."""

from __future__ import annotations

from typing import ClassVar

from django.contrib.postgres.fields import ArrayField
from django.contrib.postgres.indexes import GinIndex
from django.db import models
from django.db.models.functions import Now
from django.utils.translation import gettext_lazy as _
from pgvector.django import HalfVectorField

from apps.access.models import Row, User
from apps.answers.models.namespaces import Namespace


class GoldenText(Row):
    """What a golden answer and each of its versions say."""

    question = models.TextField()
    answer = models.TextField()
    aliases = ArrayField(models.TextField(), default=list, blank=True)
    tags = ArrayField(models.CharField(max_length=60), default=list, blank=True)
    attachments = ArrayField(models.URLField(), default=list, blank=True, help_text=_("Links, one a line."))
    valid_from = models.DateTimeField(null=True, blank=True)
    valid_until = models.DateTimeField(null=True, blank=True)
    author = models.CharField(max_length=64, blank=True, editable=False)
    approver = models.CharField(max_length=64, blank=True, editable=False)

    class Meta:
        abstract = True

    def __str__(self) -> str:
        return self.question[:80]


class GoldenAnswer(GoldenText):
    """A curated answer: the working copy, with the version now in force beside it."""

    class Status(models.TextChoices):
        """Where the working copy stands; the version in force serves meanwhile."""

        DRAFT = "draft", _("Draft")
        IN_REVIEW = "in_review", _("In review")
        APPROVED = "approved", _("Approved")
        PUBLISHED = "published", _("Published")
        RETIRED = "retired", _("Retired")

    namespace = models.ForeignKey(Namespace, models.CASCADE, related_name="golden_answers")
    status = models.CharField(max_length=10, choices=Status, default=Status.DRAFT, editable=False)
    in_force = models.OneToOneField(
        "GoldenVersion", models.SET_NULL, null=True, editable=False, related_name="serving_for"
    )
    owner = models.ForeignKey(User, models.SET_NULL, null=True, blank=True, related_name="golden_answers")
    review_by = models.DateField(null=True, blank=True)
    updated_at = models.DateTimeField(auto_now=True)

    class Meta:
        indexes: ClassVar = [
            models.Index(fields=["namespace", "status", "-created_at"], name="golden_by_status"),
            models.Index(fields=["review_by"], name="golden_by_review"),
            GinIndex(fields=["tags"], name="golden_by_tag"),
        ]


class GoldenVersion(GoldenText):
    """One published text of a golden answer; never edited."""

    golden = models.ForeignKey(GoldenAnswer, models.CASCADE, related_name="versions")
    number = models.PositiveIntegerField()
    ended_at = models.DateTimeField(null=True)

    class Meta:
        ordering: ClassVar = ["-number"]
        constraints: ClassVar = [models.UniqueConstraint(fields=["golden", "number"], name="one_text_per_version")]


class GoldenQuestions(models.QuerySet["GoldenQuestion"]):
    """Reads of the questions the static tier answers."""

    def in_force(self) -> GoldenQuestions:
        """Keep those inside their validity window, by the database's clock."""
        return self.exclude(valid_from__gt=Now()).exclude(valid_until__lte=Now())


class GoldenQuestion(Row):
    """A question or alias of the version in force; these rows are what serving searches."""

    namespace = models.ForeignKey(Namespace, models.CASCADE, related_name="golden_questions")
    golden = models.ForeignKey(GoldenAnswer, models.CASCADE, related_name="questions")
    version = models.ForeignKey(GoldenVersion, models.CASCADE, related_name="questions")
    number = models.PositiveIntegerField(help_text=_("The version's number."))
    text = models.TextField()
    digest = models.BinaryField(max_length=32)
    embedder = models.CharField(max_length=80)
    vector = HalfVectorField(null=True)
    valid_from = models.DateTimeField(null=True)
    valid_until = models.DateTimeField(null=True)

    objects = GoldenQuestions.as_manager()

    class Meta:
        constraints: ClassVar = [
            models.UniqueConstraint(fields=["namespace", "digest", "golden"], name="one_golden_question_per_text")
        ]

    def __str__(self) -> str:
        return self.text[:80]
