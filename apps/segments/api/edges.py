"""Edges: register, report, fetch plans, tell what came of them; pins."""

from __future__ import annotations

from typing import Any, ClassVar
from uuid import UUID

import django_filters
from django.db.models import QuerySet
from drf_spectacular.utils import OpenApiParameter, extend_schema, extend_schema_view
from rest_framework import mixins, serializers, viewsets
from rest_framework.decorators import action
from rest_framework.request import Request
from rest_framework.response import Response

from apps.access.api.authentication import caller_of
from apps.access.api.documented import PROBLEMS
from apps.access.api.fields import Words
from apps.access.api.lists import LIST_BACKENDS, CreatedFilter
from apps.segments.models import Edge, Pin, Plan
from apps.segments.services import edges, pinning

BYTES: dict[str, Any] = {"min_value": 0, "max_value": edges.LARGEST}
OPERATOR = {"GET": "client"}


class EdgeRequest(serializers.Serializer[Any]):
    """A new edge."""

    name = Words(max_length=80)
    url = serializers.URLField(required=False, allow_blank=True, max_length=500)
    capacity_bytes = serializers.IntegerField(required=False, **BYTES)
    line_bps = serializers.FloatField(required=False, min_value=1e3, max_value=1e13)


class EdgePatch(serializers.Serializer[Any]):
    """What an operator decides of an edge."""

    url = serializers.URLField(required=False, allow_blank=True, max_length=500)
    shadow = serializers.BooleanField(required=False)
    line_bps = serializers.FloatField(required=False, min_value=1e3, max_value=1e13)


class EdgeSerializer(serializers.ModelSerializer[Edge]):
    """An edge as it was last heard of."""

    class Meta:
        model = Edge
        fields = (
            "id", "name", "url", "shadow", "mode", "line_bps", "limit_bps", "capacity_bytes", "occupied_bytes",
            "pinned_bytes", "load", "retransmission", "turnover_s", "byte_hit", "usual_hit", "collapsed", "measures",
            "windows", "seen_at", "created_at",
        )  # fmt: skip
        read_only_fields = fields


class OutcomeSerializer(serializers.Serializer[Any]):
    """Requests and bytes of one outcome."""

    requests = serializers.IntegerField(default=0, **BYTES)
    bytes = serializers.IntegerField(default=0, **BYTES)


class OutcomesSerializer(serializers.Serializer[Any]):
    """What was served since the last report, by outcome."""

    hit = OutcomeSerializer(required=False)
    miss = OutcomeSerializer(required=False)
    prewarm = OutcomeSerializer(required=False)
    pinned_hit = OutcomeSerializer(required=False)


class OriginSerializer(serializers.Serializer[Any]):
    """Bytes fetched from the origin since the last report, by reason."""

    demand = serializers.IntegerField(default=0, **BYTES)
    prewarm = serializers.IntegerField(default=0, **BYTES)


class ComparisonSerializer(serializers.Serializer[Any]):
    """Origin bytes of one window under the plan and under an LRU that saw the same requests."""

    plan_origin_bytes = serializers.IntegerField(**BYTES)
    lru_origin_bytes = serializers.IntegerField(**BYTES)
    window_s = serializers.FloatField(required=False, min_value=0)


class FileSerializer(serializers.Serializer[Any]):
    """A file at the edge."""

    url = serializers.CharField(max_length=2000)
    bytes = serializers.IntegerField(**BYTES)


class ReportSerializer(serializers.Serializer[Any]):
    """How an edge stands; what follows `turnover_s` is told by agents of ours and may be left out."""

    occupied_bytes = serializers.IntegerField(**BYTES)
    capacity_bytes = serializers.IntegerField(**BYTES)
    load = serializers.FloatField(min_value=0, max_value=1)
    retransmission = serializers.FloatField(min_value=0, max_value=1)
    turnover_s = serializers.FloatField(min_value=0, max_value=1e9)
    pinned_bytes = serializers.IntegerField(required=False, **BYTES)
    files = serializers.IntegerField(required=False, **BYTES)
    mode = serializers.ChoiceField(["active", "shadow", "fallback"], required=False)
    sequence = serializers.IntegerField(required=False, **BYTES)
    outcomes = OutcomesSerializer(required=False)
    origin_bytes = OriginSerializer(required=False)
    failed = serializers.DictField(required=False)
    comparison = ComparisonSerializer(required=False, allow_null=True)
    added = FileSerializer(many=True, required=False)
    removed = serializers.ListField(child=serializers.CharField(max_length=2000), required=False, max_length=10_000)
    whole = serializers.BooleanField(required=False)


class LineSerializer(serializers.Serializer[Any]):
    """One line of a plan, with the reason an operator reads."""

    url = serializers.CharField()
    bytes = serializers.IntegerField()
    reason = serializers.CharField()
    score = serializers.FloatField()


class PlanSerializer(serializers.Serializer[Any]):
    """What an edge is to do until the next plan."""

    id = serializers.UUIDField()
    prewarm = LineSerializer(many=True)
    evict = LineSerializer(many=True)
    pin = LineSerializer(many=True)
    budget_bytes = serializers.IntegerField()
    limit_bps = serializers.FloatField()
    shadow = serializers.BooleanField()


class EdgeFilter(CreatedFilter):
    """Narrow the list."""

    name = django_filters.CharFilter()


@extend_schema_view(
    list=extend_schema(operation_id="segments_edges_list", responses={200: EdgeSerializer(many=True), **PROBLEMS}),
    retrieve=extend_schema(operation_id="segments_edge_read", responses={200: EdgeSerializer, **PROBLEMS}),
)
class EdgeViewSet(mixins.ListModelMixin, mixins.RetrieveModelMixin, viewsets.GenericViewSet[Edge]):
    """Edges of this workspace."""

    scope = "operator"
    method_scopes = OPERATOR
    lookup_value_converter = "uuid"
    serializer_class = EdgeSerializer
    filter_backends = LIST_BACKENDS
    filterset_class = EdgeFilter
    ordering_fields: ClassVar = ["created_at"]
    queryset = Edge.objects.none()

    def get_queryset(self) -> QuerySet[Edge]:
        """Keep to the caller's workspace."""
        if getattr(self, "swagger_fake_view", False):
            return Edge.objects.none()
        return Edge.objects.filter(workspace_id=caller_of(self.request).workspace_id)

    @extend_schema(
        operation_id="segments_edges_register", request=EdgeRequest, responses={201: EdgeSerializer, **PROBLEMS}
    )
    def create(self, request: Request) -> Response:
        """Register an edge; it begins in shadow."""
        body = EdgeRequest(data=request.data)
        body.is_valid(raise_exception=True)
        return Response(EdgeSerializer(edges.register(caller_of(request), **body.validated_data)).data, status=201)

    @extend_schema(operation_id="segments_edge_change", request=EdgePatch, responses={200: EdgeSerializer, **PROBLEMS})
    def partial_update(self, request: Request, pk: UUID) -> Response:
        """Take an edge out of shadow or back, or say what its line carries."""
        body = EdgePatch(data=request.data)
        body.is_valid(raise_exception=True)
        row = edges.configure(caller_of(request), self.get_object(), **body.validated_data)
        return Response(EdgeSerializer(row).data)

    @extend_schema(operation_id="segments_edge_delete", responses={204: None, **PROBLEMS})
    def destroy(self, request: Request, pk: UUID) -> Response:
        """Forget an edge and its plans."""
        edges.remove(caller_of(request), self.get_object())
        return Response(status=204)

    @extend_schema(
        operation_id="segments_edge_report", request=ReportSerializer, responses={200: EdgeSerializer, **PROBLEMS}
    )
    @action(detail=True, methods=["post"])
    def report(self, request: Request, pk: UUID) -> Response:
        """Take an agent's report."""
        body = ReportSerializer(data=request.data)
        body.is_valid(raise_exception=True)
        return Response(EdgeSerializer(edges.report(caller_of(request), pk, body.validated_data)).data)

    @extend_schema(
        operation_id="segments_edge_plan",
        filters=False,
        parameters=[OpenApiParameter("after", str, description="The plan the edge has.")],
        responses={200: PlanSerializer, 204: None, **PROBLEMS},
    )
    @action(detail=True, filterset_class=None, filter_backends=(), pagination_class=None)
    def plan(self, request: Request, pk: UUID) -> Response:
        """Give the newest plan; 204 while there is none after the one the edge has."""
        found = edges.plan_after(caller_of(request), pk, request.query_params.get("after", ""))
        return Response(status=204) if found is None else Response(PlanSerializer(found).data)

    @extend_schema(operation_id="segments_edge_plan_result", request=dict, responses={200: dict, **PROBLEMS})
    @action(detail=True, methods=["post"], url_path="plan/<uuid:plan>/result")
    def result(self, request: Request, pk: UUID, plan: UUID) -> Response:
        """Hear what an edge did of a plan."""
        told = request.data if isinstance(request.data, dict) else {}
        row: Plan = edges.answer(caller_of(request), pk, plan, told)
        return Response({"id": str(row.pk), "answered_at": row.answered_at})


class PinSerializer(serializers.ModelSerializer[Pin]):
    """Segments that stay at every edge; without an index the whole video."""

    video = serializers.UUIDField(source="video_id")
    index = serializers.IntegerField(required=False, allow_null=True, min_value=0, max_value=10**6)
    reason = Words(required=False, allow_blank=True, max_length=200)

    class Meta:
        model = Pin
        fields = ("id", "video", "index", "reason", "created_at")
        read_only_fields = ("id", "created_at")


class PinFilter(CreatedFilter):
    """Narrow the list."""

    video = django_filters.UUIDFilter(field_name="video_id")


@extend_schema_view(
    list=extend_schema(operation_id="segments_pins_list", responses={200: PinSerializer(many=True), **PROBLEMS}),
    retrieve=extend_schema(operation_id="segments_pin_read", responses={200: PinSerializer, **PROBLEMS}),
)
class PinViewSet(mixins.ListModelMixin, mixins.RetrieveModelMixin, viewsets.GenericViewSet[Pin]):
    """Pins of this workspace."""

    scope = "curator"
    method_scopes = OPERATOR
    lookup_value_converter = "uuid"
    serializer_class = PinSerializer
    filter_backends = LIST_BACKENDS
    filterset_class = PinFilter
    ordering_fields: ClassVar = ["created_at"]
    queryset = Pin.objects.none()

    def get_queryset(self) -> QuerySet[Pin]:
        """Keep to the caller's workspace."""
        if getattr(self, "swagger_fake_view", False):
            return Pin.objects.none()
        return Pin.objects.filter(workspace_id=caller_of(self.request).workspace_id)

    @extend_schema(
        operation_id="segments_pins_create", request=PinSerializer, responses={201: PinSerializer, **PROBLEMS}
    )
    def create(self, request: Request) -> Response:
        """Pin a segment or a whole video."""
        body = PinSerializer(data=request.data)
        body.is_valid(raise_exception=True)
        values = body.validated_data
        row = pinning.pin(caller_of(request), values["video_id"], values.get("index"), values.get("reason", ""))
        return Response(PinSerializer(row).data, status=201)

    @extend_schema(operation_id="segments_pin_delete", responses={204: None, **PROBLEMS})
    def destroy(self, request: Request, pk: UUID) -> Response:
        """Take a pin out."""
        pinning.unpin(caller_of(request), self.get_object())
        return Response(status=204)
