"""What doors that take files share: idempotency without reading a body twice, and replies of any media type."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Callable, Mapping
from typing import Any

from django.core.files.uploadedfile import UploadedFile
from drf_spectacular.utils import OpenApiParameter
from rest_framework.negotiation import BaseContentNegotiation
from rest_framework.parsers import BaseParser
from rest_framework.renderers import BaseRenderer, JSONRenderer
from rest_framework.request import Request
from rest_framework.response import Response

from apps.access import services as access
from apps.access.api.authentication import caller_of

IDEMPOTENCY = OpenApiParameter("Idempotency-Key", str, OpenApiParameter.HEADER)


class AnyAccept(BaseContentNegotiation):
    """Answer in the path's own media type whatever the client accepts, and errors in JSON."""

    def select_parser(self, request: Request, parsers: Any) -> BaseParser | None:
        """Choose by media type, as always."""
        kind = (request.content_type or "").partition(";")[0].strip().lower()
        return next((parser for parser in parsers if parser.media_type == kind), None)

    def select_renderer(self, request: Request, renderers: Any, format_suffix: str | None = None) -> Any:
        """Choose the first."""
        renderer: BaseRenderer = renderers[0]
        return renderer, renderer.media_type


def upload_of(request: Request) -> UploadedFile[Any] | None:
    """Give the uploaded `file` of a form; None in other bodies.

    Raises:
        Invalid: `file` was sent, but not as a file.
    """
    file = request.data.get("file") if isinstance(request.data, Mapping) else None
    if file is not None and not isinstance(file, UploadedFile):
        raise access.Invalid("Send the file as a part of a form (multipart/form-data).", field="file")
    return file


def once(
    request: Request, values: Mapping[str, Any], file: UploadedFile[Any] | None, create: Callable[[], Response]
) -> Response:
    """Perform a request that creates, or give the first reply to its Idempotency-Key again."""
    key = request.headers.get("Idempotency-Key")
    if key is None:
        return create()

    def perform() -> tuple[int, Any]:
        response = create()
        return response.status_code, json.loads(JSONRenderer().render(response.data))

    asked = json.dumps(values, sort_keys=True, default=str) + (_digest(file) if file is not None else "")
    status, data = access.remembered(caller_of(request), key, request.path, asked.encode(), perform)
    return Response(data, status=status)


def _digest(file: UploadedFile[Any]) -> str:
    found = hashlib.sha256()
    for part in file.chunks():
        found.update(part)
    file.seek(0)
    return found.hexdigest()
