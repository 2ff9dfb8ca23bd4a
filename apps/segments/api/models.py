"""Predictors: train, list, and say which one serves."""

from __future__ import annotations

from typing import Any, ClassVar
from uuid import UUID

from django.db.models import QuerySet
from drf_spectacular.utils import extend_schema, extend_schema_view
from rest_framework import mixins, serializers, viewsets
from rest_framework.decorators import action
from rest_framework.request import Request
from rest_framework.response import Response

from apps.access.api.authentication import caller_of
from apps.access.api.documented import PROBLEMS
from apps.access.api.lists import LIST_BACKENDS, CreatedFilter
from apps.segments.models import Predictor, Training
from apps.segments.services import training, versions


class TrainRequest(serializers.Serializer[Any]):
    """Which kind to train; all that learn from the view log when none is named. `scene` learns from drawn clips."""

    kind = serializers.ChoiceField(Predictor.Kind.choices, required=False)


class TrainingSerializer(serializers.ModelSerializer[Training]):
    """A training and what came of it."""

    kind = serializers.CharField(read_only=True, help_text="Empty where every kind is trained.")

    class Meta:
        model = Training
        fields = ("id", "status", "kind", "result", "error", "created_at", "finished_at")
        read_only_fields = fields


class PredictorSerializer(serializers.ModelSerializer[Predictor]):
    """A version, how it did on viewers it had not seen, and whether it serves."""

    class Meta:
        model = Predictor
        fields = (
            "id", "number", "role", "kind", "loss", "baseline", "p99_ms", "examples", "views", "passes", "serving",
            "created_at",
        )  # fmt: skip
        read_only_fields = fields


@extend_schema_view(
    list=extend_schema(
        operation_id="segments_models_list", responses={200: PredictorSerializer(many=True), **PROBLEMS}
    ),
    retrieve=extend_schema(operation_id="segments_model_read", responses={200: PredictorSerializer, **PROBLEMS}),
)
class PredictorViewSet(mixins.ListModelMixin, mixins.RetrieveModelMixin, viewsets.GenericViewSet[Predictor]):
    """Predictors of this workspace, newest first."""

    scope = "operator"
    method_scopes: ClassVar = {"GET": "client"}
    lookup_value_converter = "uuid"
    serializer_class = PredictorSerializer
    filter_backends = LIST_BACKENDS
    filterset_class = CreatedFilter
    ordering_fields: ClassVar = ["created_at"]
    queryset = Predictor.objects.none()

    def get_queryset(self) -> QuerySet[Predictor]:
        """Keep to the caller's workspace."""
        if getattr(self, "swagger_fake_view", False):
            return Predictor.objects.none()
        return Predictor.objects.filter(workspace_id=caller_of(self.request).workspace_id).defer("state")

    @extend_schema(
        operation_id="segments_models_train", request=TrainRequest, responses={202: TrainingSerializer, **PROBLEMS}
    )
    @action(detail=False, methods=["post"])
    def train(self, request: Request) -> Response:
        """Queue a training on the view log."""
        body = TrainRequest(data=request.data or {})
        body.is_valid(raise_exception=True)
        row = training.train(caller_of(request), body.validated_data.get("kind", ""))
        return Response(TrainingSerializer(row).data, status=202)

    @extend_schema(operation_id="segments_model_serve", request=None, responses={200: PredictorSerializer, **PROBLEMS})
    @action(detail=True, methods=["post"])
    def serve(self, request: Request, pk: UUID) -> Response:
        """Let this version serve; one that does not beat the retention curve is refused."""
        return Response(PredictorSerializer(versions.serve(caller_of(request), self.get_object())).data)
