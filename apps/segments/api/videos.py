"""Videos: register, follow, list their segments, find similar ones."""

from __future__ import annotations

import json
from typing import Any, ClassVar
from uuid import UUID

import django_filters
from django.core.files.uploadedfile import UploadedFile
from django.db.models import QuerySet
from drf_spectacular.utils import OpenApiParameter, extend_schema, extend_schema_view
from rest_framework import mixins, serializers, viewsets
from rest_framework.decorators import action
from rest_framework.parsers import JSONParser, MultiPartParser
from rest_framework.request import Request
from rest_framework.response import Response

from apps.access import services as access
from apps.access.api.authentication import caller_of
from apps.access.api.documented import PROBLEMS
from apps.access.api.fields import Words
from apps.access.api.lists import LIST_BACKENDS, CreatedFilter
from apps.segments.models import Segment, Video
from apps.segments.services import storage, videos

MOST_CAPTIONS = 5_000_000


class VideoRequest(serializers.Serializer[Any]):
    """A video by upload or by its manifest; captions are WebVTT or SubRip, the outline a list of knowledge points."""

    file = serializers.FileField(required=False, allow_empty_file=True, help_text="A video; or use `manifest`.")
    manifest = Words(required=False, max_length=2000, help_text="The address of an HLS playlist.")
    title = Words(max_length=200)
    kind = serializers.ChoiceField(Video.Kind.choices, default=Video.Kind.EDUCATION)
    course = Words(required=False, allow_blank=True, max_length=120)
    captions = Words(required=False, allow_blank=True, trim_whitespace=False, max_length=MOST_CAPTIONS)
    outline = serializers.JSONField(required=False)
    links = serializers.JSONField(required=False)
    tags = serializers.ListField(child=Words(max_length=60), required=False, max_length=50)


class VideoSerializer(serializers.ModelSerializer[Video]):
    """A video and how far it is."""

    manifest_url = serializers.SerializerMethodField()
    progress = serializers.SerializerMethodField()

    class Meta:
        model = Video
        fields = (
            "id", "title", "kind", "course", "tags", "status", "progress", "error", "manifest", "manifest_url",
            "duration_s", "renditions", "outline", "links", "created_at",
        )  # fmt: skip
        read_only_fields = fields

    def get_manifest_url(self, row: Video) -> str | None:
        """Give the address of its playlist, from the root of the site for videos that were cut here."""
        if row.status != Video.Status.DONE:
            return None
        return row.manifest or storage.address(row, "master.m3u8")

    def get_progress(self, row: Video) -> dict[str, float]:
        """Give the share that is done."""
        return {"done": row.done, "total": 1.0}


class SegmentSerializer(serializers.Serializer[Any]):
    """One segment of the video in one rendition, and what is known of it."""

    index = serializers.IntegerField()
    rendition = serializers.IntegerField()
    start_s = serializers.FloatField()
    duration_s = serializers.FloatField()
    bytes = serializers.IntegerField()
    url = serializers.CharField(source="path")


class SegmentsSerializer(serializers.Serializer[Any]):
    """All of them on one page."""

    next = serializers.CharField(allow_null=True, read_only=True)
    previous = serializers.CharField(allow_null=True, read_only=True)
    results = SegmentSerializer(many=True)


class SimilarSerializer(serializers.Serializer[Any]):
    """A segment like the one asked about."""

    video = serializers.UUIDField()
    title = serializers.CharField()
    index = serializers.IntegerField()
    similarity = serializers.FloatField()
    text = serializers.CharField()


class SimilarQuery(serializers.Serializer[Any]):
    """Which segment, and how many."""

    index = serializers.IntegerField(min_value=0, max_value=10**6, default=0)
    count = serializers.IntegerField(min_value=1, max_value=100, default=20)


class VideoFilter(CreatedFilter):
    """Narrow the list."""

    status = django_filters.ChoiceFilter(choices=Video.Status.choices)
    kind = django_filters.ChoiceFilter(choices=Video.Kind.choices)
    course = django_filters.CharFilter()


@extend_schema_view(
    list=extend_schema(operation_id="segments_videos_list", responses={200: VideoSerializer(many=True), **PROBLEMS}),
    retrieve=extend_schema(operation_id="segments_video_read", responses={200: VideoSerializer, **PROBLEMS}),
)
class VideoViewSet(mixins.ListModelMixin, mixins.RetrieveModelMixin, viewsets.GenericViewSet[Video]):
    """Videos of this workspace, newest first."""

    method_scopes: ClassVar = {"POST": "curator", "DELETE": "curator"}
    lookup_value_converter = "uuid"
    serializer_class = VideoSerializer
    parser_classes = (JSONParser, MultiPartParser)
    filter_backends = LIST_BACKENDS
    filterset_class = VideoFilter
    ordering_fields: ClassVar = ["created_at"]
    queryset = Video.objects.none()

    def get_queryset(self) -> QuerySet[Video]:
        """Keep to the caller's workspace."""
        if getattr(self, "swagger_fake_view", False):
            return Video.objects.none()
        return Video.objects.filter(workspace_id=caller_of(self.request).workspace_id)

    @extend_schema(
        operation_id="segments_videos_create",
        request={"multipart/form-data": VideoRequest, "application/json": VideoRequest},
        responses={202: VideoSerializer, **PROBLEMS},
    )
    def create(self, request: Request) -> Response:
        """Register a video; a worker cuts or reads it."""
        file = request.data.get("file") if hasattr(request.data, "get") else None
        if file is not None and not isinstance(file, UploadedFile):
            raise access.Invalid("Send the file as a part of a form (multipart/form-data).", field="file")
        body = VideoRequest(data=_read(request.data))
        body.is_valid(raise_exception=True)
        values = {name: value for name, value in body.validated_data.items() if name != "file"}
        if not isinstance(values.get("links", {}), dict):
            raise access.Invalid("Links are an object.", field="links")
        row = videos.register(caller_of(request), values, None if file is None else file.chunks())
        return Response(VideoSerializer(row).data, status=202)

    @extend_schema(operation_id="segments_video_delete", responses={204: None, **PROBLEMS})
    def destroy(self, request: Request, pk: UUID) -> Response:
        """Forget a video, its segments and its views."""
        videos.remove(caller_of(request), self.get_object())
        return Response(status=204)

    @extend_schema(
        operation_id="segments_video_segments",
        filters=False,
        responses={200: SegmentsSerializer, **PROBLEMS},
    )
    @action(detail=True, filterset_class=None, filter_backends=(), pagination_class=None)
    def segments(self, request: Request, pk: UUID) -> Response:
        """List every segment of every rendition."""
        rows = Segment.objects.filter(video=self.get_object()).order_by("rendition", "index")
        return Response({"next": None, "previous": None, "results": SegmentSerializer(rows, many=True).data})

    @extend_schema(
        operation_id="segments_video_similar",
        filters=False,
        parameters=[OpenApiParameter("index", int), OpenApiParameter("count", int)],
        responses={200: SimilarSerializer(many=True), **PROBLEMS},
    )
    @action(detail=True, filterset_class=None, filter_backends=(), pagination_class=None)
    def similar(self, request: Request, pk: UUID) -> Response:
        """Find the segments of the workspace that are most like one of this video."""
        query = SimilarQuery(data=request.query_params.dict())
        query.is_valid(raise_exception=True)
        found = videos.similar(self.get_object(), **query.validated_data)
        return Response([
            {"video": str(row.video_id), "title": row.video.title, "index": row.index,
             "similarity": round(similarity, 4), "text": row.text[:300]}
            for row, similarity in found
        ])  # fmt: skip


def _read(data: Any) -> Any:
    """Read the fields of a form: JSON where JSON is meant, captions also as a file."""
    if not hasattr(data, "getlist"):
        return data
    found = {name: data[name] for name in data if name not in {"tags", "file"}}
    for name in ("outline", "links"):
        if isinstance(found.get(name), str):
            try:
                found[name] = json.loads(found[name])
            except (ValueError, RecursionError) as problem:
                raise access.Invalid("This is no JSON.", field=name) from problem
        elif isinstance(found.get(name), UploadedFile):
            raise access.Invalid("Send JSON as text.", field=name)
    captions = found.get("captions")
    if isinstance(captions, UploadedFile):
        if (captions.size or 0) > MOST_CAPTIONS:
            raise access.Invalid("Captions are too long.", field="captions")
        found["captions"] = captions.read().decode(errors="replace")
    if "tags" in data:
        found["tags"] = data.getlist("tags")
    return found
