"""How golden answers look to REST clients."""

from __future__ import annotations

from typing import Any

from rest_framework import serializers

from apps.access.api.fields import Day, Moment, Words
from apps.answers.core.text import LONGEST_QUESTION
from apps.answers.models import GoldenAnswer
from apps.answers.services.filling import MAX_ANSWER
from apps.answers.services.golden.texts import LONGEST_LINK, LONGEST_TAG, MOST_ALIASES, MOST_TAGS


def _question() -> Words:
    return Words(max_length=LONGEST_QUESTION, trim_whitespace=False)


class GoldenSerializer(serializers.Serializer[Any]):
    """A golden answer's working copy; `version` is the number of the version in force, null when there is none."""

    id = serializers.UUIDField()
    namespace = serializers.CharField(source="namespace.name")
    question = serializers.CharField()
    answer = serializers.CharField()
    aliases = serializers.ListField(child=serializers.CharField())
    tags = serializers.ListField(child=serializers.CharField())
    attachments = serializers.ListField(child=serializers.CharField())
    valid_from = serializers.DateTimeField(allow_null=True)
    valid_until = serializers.DateTimeField(allow_null=True)
    review_by = serializers.DateField(allow_null=True)
    owner = serializers.CharField(source="owner.username", allow_null=True, default=None)
    status = serializers.ChoiceField(GoldenAnswer.Status.choices)
    version = serializers.IntegerField(source="in_force.number", allow_null=True, default=None)
    author = serializers.CharField()
    approver = serializers.CharField()
    created_at = serializers.DateTimeField()
    updated_at = serializers.DateTimeField()


class GoldenWrite(serializers.Serializer[Any]):
    """What a curator writes."""

    namespace = Words(default="default", max_length=63)
    question = _question()
    answer = Words(max_length=MAX_ANSWER, trim_whitespace=False)
    aliases = serializers.ListField(child=_question(), default=list, max_length=MOST_ALIASES)
    tags = serializers.ListField(child=Words(max_length=LONGEST_TAG), default=list, max_length=MOST_TAGS)
    attachments = serializers.ListField(child=Words(max_length=LONGEST_LINK), default=list, max_length=MOST_TAGS)
    valid_from = Moment(allow_null=True, default=None)
    valid_until = Moment(allow_null=True, default=None)
    review_by = Day(allow_null=True, default=None)
    owner = Words(
        allow_null=True, required=False, max_length=150, help_text="The user name of a member of this workspace."
    )


class GoldenPatch(GoldenWrite):
    """Some of what a curator writes."""

    def __init__(self, *args: Any, **kwargs: Any) -> None:
        super().__init__(*args, **{**kwargs, "partial": True})


class RivalSerializer(serializers.Serializer[Any]):
    """A published question too close to one of ours: `conflict` when it answers differently, else `duplicate`."""

    kind = serializers.ChoiceField(["conflict", "duplicate"])
    own_question = serializers.CharField()
    golden = serializers.UUIDField(source="golden_id")
    version = serializers.IntegerField()
    question = serializers.CharField()
    answer = serializers.CharField()
    similarity = serializers.FloatField()
    margin = serializers.FloatField()


class GoldenSaved(GoldenSerializer):
    """A golden answer just saved, with what stands too close; null when the embedder could not say."""

    conflicts = RivalSerializer(many=True, allow_null=True)


class ChangeSerializer(serializers.Serializer[Any]):
    """What one field said before and after; `lines` is a unified diff."""

    field = serializers.CharField()
    before = serializers.CharField(allow_blank=True)
    after = serializers.CharField(allow_blank=True)
    lines = serializers.ListField(child=serializers.CharField(allow_blank=True))


class VersionSerializer(serializers.Serializer[Any]):
    """One published version and what it changed."""

    version = serializers.IntegerField(source="version.number")
    question = serializers.CharField(source="version.question")
    answer = serializers.CharField(source="version.answer")
    aliases = serializers.ListField(source="version.aliases", child=serializers.CharField())
    tags = serializers.ListField(source="version.tags", child=serializers.CharField())
    attachments = serializers.ListField(source="version.attachments", child=serializers.CharField())
    valid_from = serializers.DateTimeField(source="version.valid_from", allow_null=True)
    valid_until = serializers.DateTimeField(source="version.valid_until", allow_null=True)
    author = serializers.CharField(source="version.author")
    approver = serializers.CharField(source="version.approver")
    published_at = serializers.DateTimeField(source="version.created_at")
    ended_at = serializers.DateTimeField(source="version.ended_at", allow_null=True)
    changes = ChangeSerializer(many=True)
