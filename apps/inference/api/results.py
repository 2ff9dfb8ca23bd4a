"""What came out of a job, in the media type its path names."""

from __future__ import annotations

import re
from collections.abc import Iterator
from pathlib import Path
from typing import Any
from uuid import UUID

from django.db.models import QuerySet
from django.http import Http404, HttpResponse, StreamingHttpResponse
from django.http.response import HttpResponseBase
from drf_spectacular.types import OpenApiTypes
from drf_spectacular.utils import extend_schema
from rest_framework.request import Request
from rest_framework.views import APIView

from apps.access.api.authentication import caller_of
from apps.access.api.documented import PROBLEMS
from apps.inference.api.uploads import AnyAccept
from apps.inference.models import Job
from apps.inference.services import results

PART = 256 * 1024
RANGE = re.compile(r"bytes=(\d{0,18})-(\d{0,18})")


class ResultView(APIView):
    """A part of one job's results."""

    content_negotiation_class = AnyAccept

    def job(self, request: Request, pk: UUID) -> Job:
        """Give a job of the caller's workspace, or 404."""
        rows: QuerySet[Job] = Job.objects.filter(workspace_id=caller_of(request).workspace_id)
        row = rows.select_related("network").filter(pk=pk).first()
        if row is None:
            raise Http404
        return row


def _replies(kind: str, type_: Any = OpenApiTypes.BINARY) -> Any:
    return {(200, kind): type_, **PROBLEMS}


class LinesView(ResultView):
    """Frames as JSON lines."""

    @extend_schema(operation_id="inference_job_jsonl", responses=_replies("application/x-ndjson", OpenApiTypes.STR))
    def get(self, request: Request, pk: UUID) -> HttpResponseBase:
        """Give every frame as a line of JSON."""
        return _text(results.json_lines(self.job(request, pk)), "application/x-ndjson", f"{pk}.jsonl")


class TableView(ResultView):
    """Frames as CSV."""

    @extend_schema(operation_id="inference_job_csv", responses=_replies("text/csv", OpenApiTypes.STR))
    def get(self, request: Request, pk: UUID) -> HttpResponseBase:
        """Give every frame as a line of CSV."""
        return _text(results.table(self.job(request, pk)), "text/csv", f"{pk}.csv")


def _text(parts: Iterator[str], kind: str, name: str) -> StreamingHttpResponse:
    response = StreamingHttpResponse((part.encode() for part in parts), content_type=f"{kind}; charset=utf-8")
    response["Content-Disposition"] = f'attachment; filename="{name}"'
    return response


class ReuseView(ResultView):
    """The reuse map of a frame."""

    @extend_schema(operation_id="inference_job_reuse", responses=_replies("image/png"))
    def get(self, request: Request, pk: UUID, number: int) -> HttpResponse:
        """Draw what the frame recomputed."""
        response = HttpResponse(results.reuse_map(self.job(request, pk), number), content_type="image/png")
        response["Cache-Control"] = "private, max-age=3600"
        return response


class ReportView(ResultView):
    """The report of a job."""

    @extend_schema(operation_id="inference_job_report", responses=_replies("text/html", OpenApiTypes.STR))
    def get(self, request: Request, pk: UUID) -> HttpResponse:
        """Give one page with plots that needs nothing from outside."""
        return HttpResponse(results.report(self.job(request, pk)), content_type="text/html; charset=utf-8")


class AnnotatedView(ResultView):
    """The annotated video of a job of detection."""

    @extend_schema(
        operation_id="inference_job_annotated",
        responses={(200, "video/mp4"): OpenApiTypes.BINARY, (206, "video/mp4"): OpenApiTypes.BINARY, **PROBLEMS},
    )
    def get(self, request: Request, pk: UUID) -> StreamingHttpResponse:
        """Give the video, or the range of bytes that is asked for."""
        return video(results.annotated(self.job(request, pk)), request.headers.get("Range", ""))


def video(path: Path, asked: str) -> StreamingHttpResponse:
    """Serve an MP4, or the range of its bytes that is asked for."""
    size = path.stat().st_size
    first, last = _range(asked, size)
    response = StreamingHttpResponse(_bytes(path, first, last), content_type="video/mp4")
    response["Accept-Ranges"], response["Content-Length"] = "bytes", str(last - first + 1)
    if (first, last) != (0, size - 1):
        response.status_code = 206
        response["Content-Range"] = f"bytes {first}-{last}/{size}"
    return response


def _range(asked: str, size: int) -> tuple[int, int]:
    """Read a header of one range; whatever cannot be met means the whole file."""
    found = RANGE.fullmatch(asked.strip())
    if not found or found.groups() == ("", ""):
        return 0, size - 1
    start, end = found.groups()
    if not start:
        return max(0, size - int(end)), size - 1
    first, last = int(start), min(int(end), size - 1) if end else size - 1
    return (first, last) if first <= last else (0, size - 1)


def _bytes(path: Path, first: int, last: int) -> Iterator[bytes]:
    with path.open("rb") as stream:
        stream.seek(first)
        left = last - first + 1
        while left > 0 and (part := stream.read(min(PART, left))):
            left -= len(part)
            yield part
