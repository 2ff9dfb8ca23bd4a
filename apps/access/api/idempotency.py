"""Honour Idempotency-Key on every POST that creates."""

import json
from typing import Any

from rest_framework.renderers import JSONRenderer
from rest_framework.request import Request
from rest_framework.response import Response
from rest_framework.views import APIView

from apps.access import services
from apps.access.api.authentication import caller_of


class Idempotent(APIView):
    """A view whose POST is performed once per Idempotency-Key of a workspace."""

    def post(self, request: Request, *args: Any, **kwargs: Any) -> Response:
        """Create, or give the first reply again."""
        key = request.headers.get("Idempotency-Key")
        if key is None:
            return self.create(request, *args, **kwargs)

        def perform() -> tuple[int, Any]:
            response = self.create(request, *args, **kwargs)
            return response.status_code, json.loads(JSONRenderer().render(response.data))

        body = request._request.body
        status, data = services.remembered(caller_of(request), key, request.path, body, perform)
        return Response(data, status=status)

    def create(self, request: Request, *args: Any, **kwargs: Any) -> Response:
        """Perform the request; subclasses say how."""
        raise NotImplementedError
