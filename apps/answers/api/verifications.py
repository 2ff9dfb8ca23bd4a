"""Read the judge's work and overrule it."""

from __future__ import annotations

from typing import Any

import django_filters
from django.db.models import QuerySet
from drf_spectacular.utils import OpenApiParameter, extend_schema, extend_schema_view
from rest_framework import mixins, serializers, viewsets
from rest_framework.decorators import action
from rest_framework.request import Request
from rest_framework.response import Response

from apps.access.api.authentication import caller_of
from apps.access.api.documented import PROBLEMS
from apps.answers import services
from apps.answers.models import Verification


class VerificationSerializer(serializers.ModelSerializer[Verification]):
    """One near miss and what was said of it."""

    namespace = serializers.CharField(source="namespace.name", read_only=True)
    verdict = serializers.ChoiceField(["", *Verification.Verdict.values], read_only=True)

    class Meta:
        model = Verification
        fields = (
            "id", "namespace", "status", "question", "golden", "golden_version", "golden_question", "judge",
            "similarity", "margin", "verdict", "scores", "reason", "tokens", "attempts", "error", "judged_by",
            "judged_at", "promotion", "created_at", "finished_at",
        )  # fmt: skip
        read_only_fields = fields


class OverrideSerializer(serializers.Serializer[Any]):
    """A person's verdict."""

    verdict = serializers.ChoiceField(Verification.Verdict.values)
    reason = serializers.CharField(max_length=2000, allow_blank=True, default="")


class VerificationFilter(django_filters.FilterSet):
    """Narrow the list."""

    namespace = django_filters.CharFilter(field_name="namespace__name")
    status = django_filters.ChoiceFilter(choices=Verification.Status.choices)
    verdict = django_filters.ChoiceFilter(choices=Verification.Verdict.choices)
    judge = django_filters.CharFilter()
    golden = django_filters.UUIDFilter(field_name="golden_id")

    class Meta:
        model = Verification
        fields: tuple[str, ...] = ()


@extend_schema_view(
    list=extend_schema(responses={200: VerificationSerializer(many=True), **PROBLEMS}),
    retrieve=extend_schema(responses={200: VerificationSerializer, **PROBLEMS}),
)
class VerificationViewSet(mixins.ListModelMixin, mixins.RetrieveModelMixin, viewsets.GenericViewSet[Verification]):
    """Verifications of this workspace, newest first."""

    scope = "client"
    serializer_class = VerificationSerializer
    filterset_class = VerificationFilter
    queryset = Verification.objects.none()

    def get_queryset(self) -> QuerySet[Verification]:
        """Keep to the caller's workspace."""
        if getattr(self, "swagger_fake_view", False):
            return Verification.objects.none()
        workspace = caller_of(self.request).workspace_id
        return Verification.objects.filter(namespace__workspace_id=workspace).select_related("namespace")

    @extend_schema(
        operation_id="answers_verification_override",
        request=OverrideSerializer,
        parameters=[OpenApiParameter("Idempotency-Key", str, OpenApiParameter.HEADER)],
        responses={200: VerificationSerializer, **PROBLEMS},
    )
    @action(detail=True, methods=["post"])
    def override(self, request: Request, pk: str) -> Response:
        """Decide instead of the judge: promote or retract at once, and teach it with a label."""
        if not caller_of(request).may("curator"):
            self.permission_denied(request)
        body = OverrideSerializer(data=request.data)
        body.is_valid(raise_exception=True)
        row = services.override(caller_of(request), self.get_object(), **body.validated_data)
        return Response(VerificationSerializer(row).data)
