"""Carry golden answers in and out over HTTP: bodies of any size are read and written in parts."""

from __future__ import annotations

import io
from collections.abc import Mapping
from typing import IO, Any, BinaryIO, cast

from django.http import StreamingHttpResponse
from drf_spectacular.types import OpenApiTypes
from drf_spectacular.utils import OpenApiParameter
from rest_framework import serializers
from rest_framework.negotiation import BaseContentNegotiation
from rest_framework.parsers import BaseParser, MultiPartParser
from rest_framework.renderers import BaseRenderer
from rest_framework.request import Request
from rest_framework.response import Response

from apps.access import services as access
from apps.access.api import problems
from apps.access.api.authentication import caller_of
from apps.access.api.fields import Switch
from apps.answers.services import transfer

LARGEST = 256 * 1024 * 1024
KINDS = {"csv": "text/csv", "jsonl": "application/x-ndjson"}
UPLOAD = {
    "text/csv": OpenApiTypes.STR,
    "application/x-ndjson": OpenApiTypes.STR,
    "multipart/form-data": {
        "type": "object",
        "properties": {"file": {"type": "string", "format": "binary"}},
        "required": ["file"],
    },
}
SWITCHES = [
    OpenApiParameter("dry_run", bool, description="Only say what would happen."),
    OpenApiParameter("publish", bool, description="Put what changes in force at once; for owners."),
]


class FaultSerializer(serializers.Serializer[Any]):
    """What is wrong with one field of one row; the first row of the file is 1."""

    row = serializers.IntegerField()
    field = serializers.CharField(allow_blank=True)
    message = serializers.CharField()


class ReportSerializer(serializers.Serializer[Any]):
    """What an import did, or would do; with any error it does nothing. At most 1,000 errors are listed."""

    created = serializers.IntegerField()
    updated = serializers.IntegerField()
    unchanged = serializers.IntegerField()
    errors = FaultSerializer(many=True, source="faults")  # type: ignore[assignment]
    more_errors = serializers.IntegerField(source="more_faults", help_text="Errors beyond those listed.")


class SwitchSerializer(serializers.Serializer[Any]):
    """How to import."""

    dry_run = Switch(default=False)
    publish = Switch(default=False)


class ExportSerializer(serializers.Serializer[Any]):
    """What to export, and how."""

    format = serializers.ChoiceField(list(KINDS), default="csv")
    namespace = serializers.CharField(required=False, max_length=63)
    status = serializers.ChoiceField(["draft", "in_review", "approved", "published", "retired"], required=False)


class Body(io.RawIOBase):
    """A request's body as a stream of bytes that ends with 413 where it is too large."""

    def __init__(self, source: IO[bytes]) -> None:
        self.source = source
        self.read_so_far = 0

    def readable(self) -> bool:
        """Say yes."""
        return True

    def readinto(self, buffer: Any) -> int:
        """Read the next bytes."""
        part = self.source.read(len(buffer))
        self.read_so_far += len(part)
        if self.read_so_far > LARGEST:
            raise access.TooLarge(f"An import has at most {LARGEST} bytes.")
        buffer[: len(part)] = part
        return len(part)


class CsvParser(BaseParser):
    """Hands a CSV body on as a stream."""

    media_type = KINDS["csv"]

    def parse(self, stream: Any, media_type: str | None = None, context: Mapping[str, Any] | None = None) -> Any:
        """Give the stream."""
        return stream


class JsonLinesParser(CsvParser):
    """Hands a body of JSON lines on as a stream."""

    media_type = KINDS["jsonl"]


PARSERS = (CsvParser, JsonLinesParser, MultiPartParser)


class FirstRenderer(BaseContentNegotiation):
    """Answer errors in JSON whatever the client accepts: an export chooses its format by `?format=`."""

    def select_parser(self, request: Request, parsers: Any) -> BaseParser | None:
        """Choose by media type, as always."""
        return next((parser for parser in parsers if parser.media_type == request.content_type), None)

    def select_renderer(self, request: Request, renderers: Any, format_suffix: str | None = None) -> Any:
        """Choose the first."""
        renderer: BaseRenderer = renderers[0]
        return renderer, renderer.media_type


def bring_in(request: Request) -> Response:
    """Import the body of a request."""
    switches = SwitchSerializer(data=request.query_params.dict())
    switches.is_valid(raise_exception=True)
    kind, stream = _upload(request)
    records = transfer.read_jsonl(stream) if kind == "jsonl" else transfer.read_csv(stream)
    report = transfer.import_rows(caller_of(request), records, **switches.validated_data)
    told = dict(ReportSerializer(report).data)
    if switches.validated_data["dry_run"] or not report.faults:
        return Response(told)
    problem = problems.body(422, "Nothing was imported: some rows are not valid.", problems.request_id(request))
    nothing = {"created": 0, "updated": 0, "unchanged": 0}
    return Response({**problem, **told, **nothing}, status=422, content_type=problems.CONTENT_TYPE)


def carry_out(request: Request) -> StreamingHttpResponse:
    """Export golden answers."""
    wanted = ExportSerializer(data=request.query_params.dict())
    wanted.is_valid(raise_exception=True)
    kind = wanted.validated_data.pop("format")
    parts = transfer.export(caller_of(request), kind, **wanted.validated_data)
    response = StreamingHttpResponse(parts, content_type=f"{KINDS[kind]}; charset=utf-8")
    response["Content-Disposition"] = f'attachment; filename="golden-answers.{kind}"'
    return response


def _upload(request: Request) -> tuple[str, BinaryIO]:
    """Find format and stream of an upload.

    Raises:
        Invalid: a form without a `file`.
    """
    media = (request.content_type or "").partition(";")[0].strip()
    if media == MultiPartParser.media_type:
        file = request.FILES.get("file")
        if file is None:
            raise access.Invalid("Send the file as `file`.", field="file")
        lines = str(file.name).lower().endswith((".jsonl", ".ndjson")) or file.content_type == KINDS["jsonl"]
        return ("jsonl" if lines else "csv"), _stream(file)
    body = request.data
    return ("jsonl" if media == KINDS["jsonl"] else "csv"), _stream(body if hasattr(body, "read") else io.BytesIO())


def _stream(source: Any) -> BinaryIO:
    return cast(BinaryIO, io.BufferedReader(Body(source), 64 * 1024))
