"""One middleware that sends each request through its door: the slim one for keys, the console's for people."""

import uuid
from collections.abc import Awaitable, Callable
from functools import reduce

from asgiref.sync import iscoroutinefunction, markcoroutinefunction
from django.conf import settings
from django.http import HttpRequest, HttpResponseBase
from django.utils.module_loading import import_string

Handler = Callable[[HttpRequest], Awaitable[HttpResponseBase]]
SLIM = ("/api/v1/answers/query/", "/v1/", "/healthz", "/readyz", "/metrics")


class ByDoor:
    """Choose the slim chain or the console's chain by path, and give every reply its request id."""

    sync_capable = False
    async_capable = True

    def __init__(self, get_response: Handler) -> None:
        if not iscoroutinefunction(get_response):
            raise RuntimeError("Touchstone runs under ASGI")
        self.slim = get_response
        names = reversed(settings.CONSOLE_MIDDLEWARE)
        self.console: Handler = reduce(lambda inner, name: import_string(name)(inner), names, get_response)
        markcoroutinefunction(self)

    async def __call__(self, request: HttpRequest) -> HttpResponseBase:
        """Answer one request."""
        request.request_id = uuid.uuid4().hex  # type: ignore[attr-defined]
        chain = self.slim if request.path_info.startswith(SLIM) else self.console
        response = await chain(request)
        response["X-Request-Id"] = request.request_id  # type: ignore[attr-defined]
        return response
