"""Jobs over the API: submit a video, follow it, cancel it, read its frames."""

from __future__ import annotations

from typing import Any, ClassVar

import django_filters
from django.core.files.uploadedfile import UploadedFile
from django.db.models import QuerySet
from drf_spectacular.utils import extend_schema, extend_schema_view
from rest_framework import mixins, serializers, viewsets
from rest_framework.decorators import action
from rest_framework.parsers import JSONParser, MultiPartParser
from rest_framework.request import Request
from rest_framework.response import Response

from apps.access import services as access
from apps.access.api.authentication import caller_of
from apps.access.api.documented import PROBLEMS
from apps.access.api.lists import LIST_BACKENDS, CreatedFilter
from apps.access.api.pages import Cursor
from apps.access.core.callers import Caller
from apps.inference import services
from apps.inference.api.fields import Number
from apps.inference.api.uploads import IDEMPOTENCY, AnyAccept, once, upload_of
from apps.inference.core.summing import Tape
from apps.inference.models import Frame, Job
from apps.inference.services import results

COUNT: dict[str, Any] = {"required": False, "min_value": 0, "max_value": 1_000_000}


class PlanRequest(serializers.Serializer[Any]):
    """How frames are cached."""

    model = serializers.CharField(max_length=120, help_text="A model's id or name.")
    mode = serializers.ChoiceField(Job.Mode.choices, default=Job.Mode.EXACT)
    block = serializers.IntegerField(required=False, min_value=4, max_value=256, help_text="Pixels.")
    psnr_db = Number(
        required=False, allow_null=True, min_value=10, max_value=100,
        help_text="Budget mode: blocks this close are reused. Left out, calibration chooses.",
    )  # fmt: skip
    eps = Number(
        required=False, allow_null=True, min_value=0, max_value=10,
        help_text="Budget mode: changes below so many deviations stop spreading. Left out, calibration chooses.",
    )  # fmt: skip
    motion = serializers.BooleanField(required=False)
    expiry = serializers.IntegerField(**COUNT, help_text="A full run every so many frames; 0 is never.")
    every = serializers.IntegerField(**COUNT, help_text="The plain engine runs beside every so many frames; 0: never.")


class JobRequest(PlanRequest):
    """A video, by upload or by its path inside the media folder, and how it is run."""

    file = serializers.FileField(required=False, help_text="A video; or use `path`.", allow_empty_file=True)
    path = serializers.CharField(required=False, max_length=1000, help_text="Inside the media folder.")


class JsonJobRequest(PlanRequest):
    """A video by its path inside the media folder, and how it is run."""

    path = serializers.CharField(max_length=1000, help_text="Inside the media folder.")


class ProgressSerializer(serializers.Serializer[Any]):
    """Frames done, of how many; null where the file does not say."""

    done = serializers.IntegerField()
    total = serializers.IntegerField(allow_null=True)


class StatsSerializer(serializers.Serializer[Any]):
    """Statistics so far; times in milliseconds, shares in 0..1, null where nothing was measured."""

    frames = serializers.IntegerField()
    reused = serializers.IntegerField()
    partial = serializers.IntegerField()  # type: ignore[assignment]
    dense = serializers.IntegerField()
    work_share = serializers.FloatField(allow_null=True)
    p50_ms = serializers.FloatField(allow_null=True)
    p95_ms = serializers.FloatField(allow_null=True)
    plain_p50_ms = serializers.FloatField(allow_null=True)
    speedup = serializers.FloatField(allow_null=True, help_text="Mean plain time over mean time of all frames.")
    agreement = serializers.FloatField(
        allow_null=True, help_text="With the plain run, estimated over all frames from those it ran beside."
    )
    bail_outs = serializers.IntegerField()


class JobSerializer(serializers.ModelSerializer[Job]):
    """A job; `outcome` is `stored` when it was given the results of an earlier one."""

    model = serializers.UUIDField(source="network_id", read_only=True)
    model_name = serializers.CharField(source="network.name", read_only=True)
    status = serializers.CharField(read_only=True)
    outcome = serializers.SerializerMethodField()
    progress = ProgressSerializer(read_only=True)
    stats = serializers.SerializerMethodField()

    class Meta:
        model = Job
        fields = (
            "id", "status", "outcome", "progress", "stats", "error", "model", "model_name", "title", "sha256",
            "mode", "block", "psnr_db", "eps", "motion", "expiry", "every", "created_at", "finished_at",
        )  # fmt: skip
        read_only_fields = fields

    def get_outcome(self, row: Job) -> str | None:
        """Say whether results were stored already."""
        return "stored" if row.stored else None

    @extend_schema(responses=StatsSerializer)
    def get_stats(self, row: Job) -> dict[str, Any]:
        """Give the statistics, zeros and nulls before the first frame."""
        return {**Tape().stats(), **row.stats}


class JobFilter(CreatedFilter):
    """Narrow the list."""

    status = django_filters.ChoiceFilter(choices=Job.Status.choices)
    model = django_filters.UUIDFilter(field_name="network_id")


class FrameSerializer(serializers.Serializer[Any]):
    """One frame; `result` holds `top`, `boxes` or `outputs`, by the model's task."""

    frame = serializers.IntegerField(source="number")
    outcome = serializers.ChoiceField(Frame.Outcome.choices)
    reason = serializers.CharField(allow_blank=True)
    dirty_share = serializers.FloatField()
    work_share = serializers.FloatField()
    bail_out = serializers.BooleanField()
    cached_ms = serializers.FloatField()
    plain_ms = serializers.FloatField(allow_null=True)
    agreement = serializers.FloatField(allow_null=True)
    result = serializers.DictField()


class ByNumber(Cursor):
    """Frames in order."""

    ordering = ["number"]  # type: ignore[assignment]


@extend_schema_view(
    list=extend_schema(operation_id="inference_jobs_list", responses={200: JobSerializer(many=True), **PROBLEMS}),
    retrieve=extend_schema(operation_id="inference_job_read", responses={200: JobSerializer, **PROBLEMS}),
)
class JobViewSet(mixins.ListModelMixin, mixins.RetrieveModelMixin, viewsets.GenericViewSet[Job]):
    """Jobs of this workspace."""

    lookup_value_converter = "uuid"
    serializer_class = JobSerializer
    parser_classes = (JSONParser, MultiPartParser)
    content_negotiation_class = AnyAccept
    filter_backends = LIST_BACKENDS
    filterset_class = JobFilter
    ordering_fields: ClassVar = ["created_at"]
    queryset = Job.objects.none()

    def get_queryset(self) -> QuerySet[Job]:
        """Keep to the caller's workspace."""
        if getattr(self, "swagger_fake_view", False):
            return Job.objects.none()
        return Job.objects.filter(workspace_id=caller_of(self.request).workspace_id).select_related("network")

    @extend_schema(
        operation_id="inference_jobs_create",
        parameters=[IDEMPOTENCY],
        request={"multipart/form-data": JobRequest, "application/json": JsonJobRequest},
        responses={202: JobSerializer, **PROBLEMS},
    )
    def create(self, request: Request) -> Response:
        """Queue a video; results that are known already are there at once."""
        file, body = upload_of(request), JobRequest(data=request.data)
        body.is_valid(raise_exception=True)
        values = {name: value for name, value in body.validated_data.items() if name != "file"}
        caller, path = caller_of(request), values.pop("path", None)
        if (file is None) == (path is None):
            raise access.Invalid("Send a video as `file`, or its `path` inside the media folder.", field="file")
        services.find(caller.workspace_id, values["model"])

        def make() -> Response:
            row = services.submit(caller, values.pop("model"), _video(caller, file, path), **values)
            return Response(JobSerializer(row).data, status=202)

        return once(request, {**values, "path": path}, file, make)

    @extend_schema(operation_id="inference_job_cancel", request=None, responses={200: JobSerializer, **PROBLEMS})
    @action(detail=True, methods=["post"])
    def cancel(self, request: Request, pk: Any) -> Response:
        """Cancel a job; a running one stops between frames."""
        return Response(JobSerializer(services.cancel(caller_of(request), self.get_object())).data)

    @extend_schema(
        operation_id="inference_job_frames", filters=False, responses={200: FrameSerializer(many=True), **PROBLEMS}
    )
    @action(detail=True, pagination_class=ByNumber, filterset_class=None, filter_backends=())
    def frames(self, request: Request, pk: Any) -> Response:
        """List what every frame gave."""
        job: Job = self.get_object()
        rows: Any = job.rows().only("id", "job_id", *Frame.LIGHT)
        page = self.paginate_queryset(rows)
        return self.get_paginated_response([results.line(row.__dict__) for row in page or []])


def _video(caller: Caller, file: UploadedFile[Any] | None, path: str | None) -> services.Video:
    if file is not None:
        return services.keep_video(caller, str(file.name or "video"), file.chunks())
    return services.named_video(path or "")
