"""Streams over the API: open, post pictures in order, close."""

from __future__ import annotations

from typing import Any, ClassVar

from django.db.models import QuerySet
from drf_spectacular.types import OpenApiTypes
from drf_spectacular.utils import extend_schema, extend_schema_view
from rest_framework import mixins, serializers, viewsets
from rest_framework.decorators import action
from rest_framework.parsers import BaseParser, JSONParser, MultiPartParser
from rest_framework.request import Request
from rest_framework.response import Response

from apps.access import services as access
from apps.access.api.authentication import caller_of
from apps.access.api.documented import PROBLEMS
from apps.access.api.lists import LIST_BACKENDS
from apps.inference import services
from apps.inference.api.jobs import PlanRequest
from apps.inference.api.uploads import IDEMPOTENCY, AnyAccept, once, upload_of
from apps.inference.core import pictures
from apps.inference.models import Frame, Stream


class JpegParser(BaseParser):
    """Hands the bytes of a picture on."""

    media_type = "image/jpeg"

    def parse(self, stream: Any, media_type: str | None = None, parser_context: Any = None) -> Any:
        """Read the body up to the limit."""
        return bytes(stream.read(pictures.MAX_BYTES + 1))


class PngParser(JpegParser):
    """Hands the bytes of a picture on."""

    media_type = "image/png"


class PictureForm(serializers.Serializer[Any]):
    """A picture in a form."""

    file = serializers.FileField()


class StreamSerializer(serializers.ModelSerializer[Stream]):
    """A stream, and what became of its pictures."""

    model = serializers.UUIDField(source="network_id", read_only=True)
    model_name = serializers.CharField(source="network.name", read_only=True)
    status = serializers.ChoiceField(Stream.Status.choices, read_only=True)

    class Meta:
        model = Stream
        fields = (
            "id", "status", "model", "model_name", "mode", "block", "psnr_db", "eps", "motion", "expiry", "every",
            "frames", "reused", "partial", "dense", "width", "height", "memory_bytes", "agreement", "created_at",
            "last_frame_at", "closed_at",
        )  # fmt: skip
        read_only_fields = fields


class PictureSerializer(serializers.Serializer[Any]):
    """What one picture of a stream gave."""

    frame = serializers.IntegerField()
    outcome = serializers.ChoiceField(Frame.Outcome.choices)
    reason = serializers.CharField(allow_blank=True)
    dirty_share = serializers.FloatField()
    work_share = serializers.FloatField()
    bail_out = serializers.BooleanField()
    cached_ms = serializers.FloatField()
    plain_ms = serializers.FloatField(allow_null=True)
    agreement = serializers.FloatField(allow_null=True)
    result = serializers.DictField()


@extend_schema_view(
    list=extend_schema(operation_id="inference_streams_list", responses={200: StreamSerializer(many=True), **PROBLEMS}),
    retrieve=extend_schema(operation_id="inference_stream_read", responses={200: StreamSerializer, **PROBLEMS}),
)
class StreamViewSet(mixins.ListModelMixin, mixins.RetrieveModelMixin, viewsets.GenericViewSet[Stream]):
    """Streams of this workspace."""

    lookup_value_converter = "uuid"
    serializer_class = StreamSerializer
    parser_classes = (JSONParser, MultiPartParser)
    content_negotiation_class = AnyAccept
    filter_backends = LIST_BACKENDS
    ordering_fields: ClassVar = ["created_at"]
    queryset = Stream.objects.none()

    def get_queryset(self) -> QuerySet[Stream]:
        """Keep to the caller's workspace."""
        if getattr(self, "swagger_fake_view", False):
            return Stream.objects.none()
        return Stream.objects.filter(workspace_id=caller_of(self.request).workspace_id).select_related("network")

    @extend_schema(
        operation_id="inference_streams_create",
        parameters=[IDEMPOTENCY],
        request={"application/json": PlanRequest, "multipart/form-data": PlanRequest},
        responses={201: StreamSerializer, **PROBLEMS},
    )
    def create(self, request: Request) -> Response:
        """Open a stream."""
        body = PlanRequest(data=request.data)
        body.is_valid(raise_exception=True)
        values = dict(body.validated_data)

        def make() -> Response:
            row = services.begin(caller_of(request), **values)
            return Response(StreamSerializer(row).data, status=201)

        return once(request, values, None, make)

    @extend_schema(operation_id="inference_stream_close", responses={204: None, **PROBLEMS})
    def destroy(self, request: Request, pk: Any) -> Response:
        """Close a stream."""
        services.close(caller_of(request), self.get_object())
        return Response(status=204)

    @extend_schema(
        operation_id="inference_stream_frame",
        request={
            "image/jpeg": OpenApiTypes.BINARY, "image/png": OpenApiTypes.BINARY, "multipart/form-data": PictureForm,
        },
        responses={200: PictureSerializer, **PROBLEMS},
    )  # fmt: skip
    @action(detail=True, methods=["post"], parser_classes=(JpegParser, PngParser, MultiPartParser))
    def frames(self, request: Request, pk: Any) -> Response:
        """Give the next picture, JPEG or PNG, and get its result."""
        row: Stream = self.get_object()
        return Response(services.post(row, _picture(request)))


def _picture(request: Request) -> bytes:
    if isinstance(request.data, bytes):
        return request.data
    file = upload_of(request)
    if file is None:
        raise access.Invalid("Send the picture as `file`, or as a body of image/jpeg or image/png.", field="file")
    if (file.size or 0) > pictures.MAX_BYTES:
        raise access.TooLarge(f"A picture has at most {pictures.MAX_BYTES} bytes.", field="file")
    return bytes(file.read())
