"""The curators' door to golden answers: write, review, publish, retire, and see what stands too close."""

from __future__ import annotations

from typing import Any, ClassVar, cast
from uuid import UUID

import django_filters
from django.db.models import Q, QuerySet
from django.http import StreamingHttpResponse
from drf_spectacular.types import OpenApiTypes
from drf_spectacular.utils import extend_schema, extend_schema_view
from rest_framework import mixins, serializers, viewsets
from rest_framework.decorators import action
from rest_framework.request import Request
from rest_framework.response import Response

from apps.access import services as access
from apps.access.api.authentication import caller_of
from apps.access.api.documented import PROBLEMS
from apps.access.api.idempotency import once
from apps.access.api.lists import LIST_BACKENDS, CreatedFilter
from apps.answers.api import transfer
from apps.answers.api.entries import EntrySerializer
from apps.answers.api.feedback import ServedRowSerializer
from apps.answers.api.golden_shapes import (
    GoldenPatch,
    GoldenSaved,
    GoldenSerializer,
    GoldenWrite,
    RivalSerializer,
    VersionSerializer,
)
from apps.answers.api.query import IDEMPOTENCY
from apps.answers.models import GoldenAnswer
from apps.answers.services import golden, reacting

GOLDEN: dict[Any, Any] = {200: GoldenSerializer, **PROBLEMS}


class VersionQuery(serializers.Serializer[Any]):
    """Which version is asked about; all of them when none is named."""

    version = serializers.IntegerField(required=False, min_value=1, max_value=2_147_483_647)


class GoldenFilter(CreatedFilter):
    """Narrow the list."""

    namespace = django_filters.CharFilter(field_name="namespace__name", help_text="The namespace's name.")
    status = django_filters.ChoiceFilter(choices=GoldenAnswer.Status.choices)
    tags = django_filters.CharFilter(method="with_tags", help_text="Tags it must all bear, separated by commas.")
    q = django_filters.CharFilter(method="saying", help_text="Words in the question or the answer.")
    review_by = django_filters.DateFilter(lookup_expr="lte", help_text="To be looked at again by this day.")

    class Meta:
        model = GoldenAnswer
        fields: tuple[str, ...] = ()

    def with_tags(self, rows: QuerySet[GoldenAnswer], name: str, value: str) -> QuerySet[GoldenAnswer]:
        """Keep what bears every one of these tags."""
        wanted = [tag.strip() for tag in value.split(",") if tag.strip()]
        return rows.filter(tags__contains=wanted)

    def saying(self, rows: QuerySet[GoldenAnswer], name: str, value: str) -> QuerySet[GoldenAnswer]:
        """Keep what holds these words, in any case."""
        return rows.filter(Q(question__icontains=value) | Q(answer__icontains=value))


@extend_schema_view(
    list=extend_schema(operation_id="answers_golden_list", responses={200: GoldenSerializer(many=True), **PROBLEMS}),
    retrieve=extend_schema(operation_id="answers_golden_read", responses=GOLDEN),
)
class GoldenViewSet(mixins.ListModelMixin, mixins.RetrieveModelMixin, viewsets.GenericViewSet[GoldenAnswer]):
    """Golden answers of this workspace, newest first."""

    scope = "curator"
    lookup_value_converter = "uuid"
    serializer_class = GoldenSerializer
    filterset_class = GoldenFilter
    filter_backends = LIST_BACKENDS
    ordering_fields: ClassVar = ["created_at", "updated_at"]
    queryset = GoldenAnswer.objects.none()

    def get_queryset(self) -> QuerySet[GoldenAnswer]:
        """Keep to the caller's workspace."""
        if getattr(self, "swagger_fake_view", False):
            return GoldenAnswer.objects.none()
        workspace = caller_of(self.request).workspace_id
        rows = GoldenAnswer.objects.filter(namespace__workspace_id=workspace)
        return rows.select_related("namespace", "in_force", "owner")

    @extend_schema(
        operation_id="answers_golden_create",
        parameters=[IDEMPOTENCY],
        request=GoldenWrite,
        responses={201: GoldenSaved, **PROBLEMS},
    )
    def create(self, request: Request) -> Response:
        """Draft a golden answer; the reply names published questions that stand too close."""

        def draft() -> Response:
            values = _parsed(GoldenWrite(data=request.data))
            row = golden.draft(caller_of(request), values.pop("namespace"), values)
            return Response(_saved(row), status=201)

        return once(request, draft)

    @extend_schema(operation_id="answers_golden_replace", request=GoldenWrite, responses={200: GoldenSaved, **PROBLEMS})
    def update(self, request: Request, pk: UUID) -> Response:
        """Replace the working copy; a changed text is a draft again while the version in force serves on."""
        return self._edit(request, pk, _parsed(GoldenWrite(data=request.data)))

    @extend_schema(operation_id="answers_golden_edit", request=GoldenPatch, responses={200: GoldenSaved, **PROBLEMS})
    def partial_update(self, request: Request, pk: UUID) -> Response:
        """Change some fields of the working copy."""
        return self._edit(request, pk, _parsed(GoldenPatch(data=request.data)))

    @extend_schema(operation_id="answers_golden_delete", responses={204: None, **PROBLEMS})
    def destroy(self, request: Request, pk: UUID) -> Response:
        """Delete a golden answer that was never published; one that was is retired instead."""
        golden.remove(caller_of(request), pk)
        return Response(status=204)

    @extend_schema(operation_id="answers_golden_submit", request=None, responses=GOLDEN)
    @action(detail=True, methods=["post"])
    def submit(self, request: Request, pk: UUID) -> Response:
        """Hand a draft to the reviewers."""
        return _rendered(golden.submit(caller_of(request), pk))

    @extend_schema(operation_id="answers_golden_approve", request=None, responses=GOLDEN)
    @action(detail=True, methods=["post"])
    def approve(self, request: Request, pk: UUID) -> Response:
        """Approve a text in review; its author may not, unless the namespace has switched four eyes off."""
        return _rendered(golden.approve(caller_of(request), pk))

    @extend_schema(operation_id="answers_golden_publish", request=None, responses=GOLDEN)
    @action(detail=True, methods=["post"])
    def publish(self, request: Request, pk: UUID) -> Response:
        """Put an approved text in force; promotions follow, or are retracted when the question changed."""
        return _rendered(golden.publish(caller_of(request), pk))

    @extend_schema(operation_id="answers_golden_retire", request=None, responses=GOLDEN)
    @action(detail=True, methods=["post"])
    def retire(self, request: Request, pk: UUID) -> Response:
        """Take an answer out of force and retract every promotion to it."""
        return _rendered(golden.retire(caller_of(request), pk))

    @extend_schema(
        operation_id="answers_golden_versions",
        filters=False,
        responses={200: VersionSerializer(many=True), **PROBLEMS},
    )
    @action(detail=True, methods=["get"], pagination_class=None)
    def versions(self, request: Request, pk: UUID) -> Response:
        """List the published versions, newest first, each with what it changed."""
        rows = golden.versions(golden.of(caller_of(request), pk))
        return Response(VersionSerializer(rows, many=True).data)

    @extend_schema(
        operation_id="answers_golden_conflicts",
        filters=False,
        responses={200: RivalSerializer(many=True), **PROBLEMS},
    )
    @action(detail=True, methods=["get"], pagination_class=None)
    def conflicts(self, request: Request, pk: UUID) -> Response:
        """List published questions too close to the working copy, with similarity and margin."""
        rows = golden.conflicts(golden.of(caller_of(request), pk))
        return Response(RivalSerializer(rows, many=True).data)

    @extend_schema(
        operation_id="answers_golden_promotions",
        filters=False,
        responses={200: EntrySerializer(many=True), **PROBLEMS},
    )
    @action(detail=True, methods=["get"], filter_backends=[], filterset_class=None)
    def promotions(self, request: Request, pk: UUID) -> Response:
        """List the entries that point at this golden answer, newest first."""
        rows = golden.promotions(golden.of(caller_of(request), pk))
        page = self.paginate_queryset(cast(Any, rows))
        return self.get_paginated_response(EntrySerializer(page, many=True).data)

    @extend_schema(
        operation_id="answers_golden_served",
        filters=False,
        parameters=[VersionQuery],
        responses={200: ServedRowSerializer(many=True), **PROBLEMS},
    )
    @action(detail=True, methods=["get"], filter_backends=[], filterset_class=None)
    def served(self, request: Request, pk: UUID) -> Response:
        """Tell who was served this golden answer, or one version of it, newest first."""
        query = VersionQuery(data=request.query_params.dict())
        query.is_valid(raise_exception=True)
        golden.of(caller_of(request), pk)
        rows = reacting.served(caller_of(request), golden=pk, version=query.validated_data.get("version"))
        page = self.paginate_queryset(cast(Any, rows))
        return self.get_paginated_response(ServedRowSerializer(page, many=True).data)

    @extend_schema(
        operation_id="answers_golden_import",
        parameters=[*transfer.SWITCHES, IDEMPOTENCY],
        request=transfer.UPLOAD,
        responses={200: transfer.ReportSerializer, **PROBLEMS},
    )
    @action(detail=False, methods=["post"], url_path="import", parser_classes=transfer.PARSERS)
    def bring_in(self, request: Request) -> Response:
        """Import CSV or JSON lines: create or change one golden answer a row, all of them or none."""
        return once(request, lambda: transfer.bring_in(request))

    @extend_schema(
        operation_id="answers_golden_export",
        filters=False,
        parameters=[transfer.ExportSerializer],
        responses={
            (200, "text/csv"): OpenApiTypes.STR,
            (200, "application/x-ndjson"): OpenApiTypes.STR,
            **PROBLEMS,
        },
    )
    @action(detail=False, methods=["get"], pagination_class=None, content_negotiation_class=transfer.FirstRenderer)
    def export(self, request: Request) -> StreamingHttpResponse:
        """Export golden answers, oldest first; retired ones only when they are asked for."""
        return transfer.carry_out(request)

    def _edit(self, request: Request, pk: UUID, values: dict[str, Any]) -> Response:
        row = golden.edit(caller_of(request), pk, values)
        return Response(_saved(row))


def _parsed(body: GoldenWrite) -> dict[str, Any]:
    body.is_valid(raise_exception=True)
    return dict(body.validated_data)


def _rendered(row: GoldenAnswer) -> Response:
    return Response(GoldenSerializer(row).data)


def _saved(row: GoldenAnswer) -> dict[str, Any]:
    """Write a saved row with its conflicts; null when the embedder could not say."""
    return {**GoldenSerializer(row).data, "conflicts": _conflicts(row)}


def _conflicts(row: GoldenAnswer) -> list[Any] | None:
    """List what stands too close; saving must not need the embedder."""
    try:
        return list(RivalSerializer(golden.conflicts(row), many=True).data)
    except access.Unavailable:
        return None
