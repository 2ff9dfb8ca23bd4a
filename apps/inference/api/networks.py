"""Models over the API: register by uploading ONNX, read with their analysis, delete."""

from __future__ import annotations

from typing import Any, ClassVar

from django.db.models import QuerySet
from drf_spectacular.utils import extend_schema, extend_schema_view
from rest_framework import mixins, serializers, viewsets
from rest_framework.parsers import MultiPartParser
from rest_framework.request import Request
from rest_framework.response import Response

from apps.access import services as access
from apps.access.api.authentication import caller_of
from apps.access.api.documented import PROBLEMS
from apps.access.api.lists import LIST_BACKENDS
from apps.inference import services
from apps.inference.api.fields import Channels, Labels
from apps.inference.api.uploads import IDEMPOTENCY, AnyAccept, once, upload_of
from apps.inference.models import Network

SIDE: dict[str, Any] = {"required": False, "min_value": 1, "max_value": 8192}


class NetworkRequest(serializers.Serializer[Any]):
    """A network and what the engine must know of it; sizes may be left out where the file fixes them."""

    file = serializers.FileField(help_text="ONNX, in one file.")
    name = serializers.CharField(max_length=120)
    task = serializers.ChoiceField(Network.Task.choices, default=Network.Task.CLASSIFICATION)
    input_width = serializers.IntegerField(**SIDE)
    input_height = serializers.IntegerField(**SIDE)
    layout = serializers.ChoiceField(Network.Layout.choices, default=Network.Layout.NCHW)
    mean = Channels(least=-1_000, most=1_000, default=[0.0, 0.0, 0.0], help_text="Of values in 0..1.")
    std = Channels(least=1e-6, most=1_000, default=[1.0, 1.0, 1.0], help_text="Of values in 0..1.")
    labels = Labels(required=False, max_length=100_000)


class NodeSerializer(serializers.Serializer[Any]):
    """One operation: how it is reused and why, and by how many input pixels (down, across) change has spread."""

    name = serializers.CharField()
    operator = serializers.CharField()
    reuse = serializers.CharField()
    why = serializers.CharField()
    erosion = serializers.ListField(child=serializers.FloatField(), allow_null=True)


class ShareSerializer(serializers.Serializer[Any]):
    """The share of the work that one compact dirty rectangle costs."""

    dirty = serializers.FloatField()
    work = serializers.FloatField()


class AnalysisSerializer(serializers.Serializer[Any]):
    """What can be reused; empty until a shipped model is prepared."""

    verdict = serializers.CharField(required=False)
    spatial_nodes = serializers.IntegerField(required=False)
    tail_index = serializers.IntegerField(required=False, allow_null=True)
    tail_why = serializers.CharField(required=False)
    tail_share = serializers.FloatField(required=False)
    shares = ShareSerializer(many=True, required=False)
    cache_bytes = serializers.IntegerField(required=False)
    macs = serializers.IntegerField(required=False)
    nodes = NodeSerializer(many=True, required=False)


class BriefNetwork(serializers.ModelSerializer[Network]):
    """A registered model, without its analysis."""

    task = serializers.ChoiceField(Network.Task.choices, source="purpose", read_only=True)
    mean = serializers.ListField(child=serializers.FloatField(), read_only=True)
    std = serializers.ListField(child=serializers.FloatField(), read_only=True)
    status = serializers.CharField(read_only=True, help_text="`done` when it may be run.")
    created_at = serializers.DateTimeField(read_only=True)

    class Meta:
        model = Network
        fields: tuple[str, ...] = (
            "id", "name", "task", "status", "input_width", "input_height", "layout", "mean", "std", "sha256",
            "size_bytes", "error", "created_at",
        )  # fmt: skip
        read_only_fields = fields


class NetworkSerializer(BriefNetwork):
    """A registered model and what can be reused in it."""

    labels = serializers.ListField(child=serializers.CharField(), read_only=True)
    analysis = AnalysisSerializer(read_only=True)

    class Meta(BriefNetwork.Meta):
        fields = (*BriefNetwork.Meta.fields, "labels", "analysis")
        read_only_fields = fields


@extend_schema_view(
    list=extend_schema(operation_id="inference_models_list", responses={200: BriefNetwork(many=True), **PROBLEMS}),
    retrieve=extend_schema(operation_id="inference_model_read", responses={200: NetworkSerializer, **PROBLEMS}),
)
class NetworkViewSet(mixins.ListModelMixin, mixins.RetrieveModelMixin, viewsets.GenericViewSet[Network]):
    """Models of this workspace."""

    scope = "operator"
    method_scopes: ClassVar = {"GET": "client"}
    lookup_value_converter = "uuid"
    parser_classes = (MultiPartParser,)
    content_negotiation_class = AnyAccept
    filter_backends = LIST_BACKENDS
    ordering_fields: ClassVar = ["created_at"]
    queryset = Network.objects.none()

    def get_serializer_class(self) -> Any:
        """Leave analyses out of lists."""
        return BriefNetwork if self.action == "list" else NetworkSerializer

    def get_queryset(self) -> QuerySet[Network]:
        """Keep to the caller's workspace."""
        if getattr(self, "swagger_fake_view", False):
            return Network.objects.none()
        return Network.objects.filter(workspace_id=caller_of(self.request).workspace_id)

    @extend_schema(
        operation_id="inference_models_create",
        parameters=[IDEMPOTENCY],
        request={"multipart/form-data": NetworkRequest},
        responses={201: NetworkSerializer, **PROBLEMS},
    )
    def create(self, request: Request) -> Response:
        """Register a model by uploading ONNX; it is checked and analysed before this replies."""
        file = upload_of(request)
        body = NetworkRequest(data=request.data)
        body.is_valid(raise_exception=True)
        values = {name: value for name, value in body.validated_data.items() if name != "file"}
        if file is None:
            raise access.Invalid("Send the network as `file`.", field="file")
        facts = services.Facts(purpose=values.pop("task"), **values)

        def make() -> Response:
            row = services.register(caller_of(request), facts, file.chunks())
            return Response(NetworkSerializer(row).data, status=201)

        return once(request, {**values, "purpose": facts.purpose}, file, make)

    @extend_schema(operation_id="inference_model_delete", responses={204: None, **PROBLEMS})
    def destroy(self, request: Request, pk: Any) -> Response:
        """Delete a model with its finished jobs."""
        services.remove(caller_of(request), self.get_object())
        return Response(status=204)
