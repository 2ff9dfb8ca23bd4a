"""Honour Idempotency-Key on every POST that creates."""

import json
from collections.abc import Callable
from typing import Any

from rest_framework.renderers import JSONRenderer
from rest_framework.request import Request
from rest_framework.response import Response
from rest_framework.views import APIView

from apps.access import services
from apps.access.api.authentication import caller_of
from apps.access.api.problems import CONTENT_TYPE


def once(request: Request, create: Callable[[], Response]) -> Response:
    """Perform a request that creates, or give the first reply to its Idempotency-Key again."""
    key = request.headers.get("Idempotency-Key")
    if key is None:
        return create()

    def perform() -> tuple[int, Any]:
        response = create()
        return response.status_code, json.loads(JSONRenderer().render(response.data))

    asked = request._request.body + b"?" + request._request.META.get("QUERY_STRING", "").encode()
    status, data = services.remembered(caller_of(request), key, request.path, asked, perform)
    return Response(data, status=status, content_type=CONTENT_TYPE if status >= 400 else None)


class Idempotent(APIView):
    """A view whose POST is performed once per Idempotency-Key of a workspace."""

    def post(self, request: Request, *args: Any, **kwargs: Any) -> Response:
        """Create, or give the first reply again."""
        return once(request, lambda: self.create(request, *args, **kwargs))

    def create(self, request: Request, *args: Any, **kwargs: Any) -> Response:
        """Perform the request; subclasses say how."""
        raise NotImplementedError
