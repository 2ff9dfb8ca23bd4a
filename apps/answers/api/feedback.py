"""Hear from clients whether an answer was good, and tell curators who was served it."""

from __future__ import annotations

from typing import Any
from uuid import UUID

from drf_spectacular.utils import extend_schema
from rest_framework import serializers
from rest_framework.request import Request
from rest_framework.response import Response

from apps.access.api.authentication import caller_of
from apps.access.api.documented import PROBLEMS
from apps.access.api.fields import Words
from apps.access.api.idempotency import Idempotent
from apps.answers.api.query import IDEMPOTENCY
from apps.answers.models import Feedback, Query
from apps.answers.services import reacting


class FeedbackSerializer(serializers.Serializer[Any]):
    """Good or bad, and why."""

    verdict = serializers.ChoiceField(Feedback.Verdict.choices)
    note = Words(required=False, default="", allow_blank=True, max_length=2000)


class ReactionSerializer(serializers.Serializer[Any]):
    """What was said and what followed: whether a promotion was suspended, and the verification that reviews it."""

    id = serializers.UUIDField(source="feedback.id")
    query = serializers.UUIDField(source="feedback.query_id")
    verdict = serializers.ChoiceField(Feedback.Verdict.choices, source="feedback.verdict")
    note = serializers.CharField(source="feedback.note", allow_blank=True)
    created_at = serializers.DateTimeField(source="feedback.created_at")
    suspended = serializers.BooleanField()
    verification = serializers.UUIDField(source="verification_id", allow_null=True)


class ServedRowSerializer(serializers.Serializer[Any]):
    """One row of the query log: who was served what."""

    id = serializers.UUIDField()
    namespace = serializers.CharField(source="namespace.name")
    client = serializers.CharField(source="by")
    question = serializers.CharField()
    outcome = serializers.ChoiceField(Query.Outcome.choices)
    origin = serializers.CharField(allow_blank=True)
    golden = serializers.UUIDField(source="golden_id", allow_null=True)
    golden_version = serializers.IntegerField(allow_null=True)
    entry = serializers.UUIDField(source="entry_id", allow_null=True)
    verification = serializers.UUIDField(source="verification_id", allow_null=True)
    created_at = serializers.DateTimeField()


class FeedbackView(Idempotent):
    """Feedback on one served question."""

    @extend_schema(
        operation_id="answers_query_feedback",
        parameters=[IDEMPOTENCY],
        request=FeedbackSerializer,
        responses={201: ReactionSerializer, **PROBLEMS},
    )
    def post(self, request: Request, *args: Any, **kwargs: Any) -> Response:
        """Say that a served answer was good or bad; a bad word on a promotion suspends it and opens a review."""
        return super().post(request, *args, **kwargs)

    def create(self, request: Request, *args: Any, **kwargs: Any) -> Response:
        """Keep the feedback and react."""
        body = FeedbackSerializer(data=request.data)
        body.is_valid(raise_exception=True)
        reaction = reacting.feedback(caller_of(request), UUID(str(kwargs["pk"])), **body.validated_data)
        return Response(ReactionSerializer(reaction).data, status=201)
