"""One middleware that sends each request through its door: the slim one for keys, the console's for people."""

import uuid
from collections.abc import AsyncIterator, Awaitable, Callable, Iterator
from typing import cast
from zoneinfo import ZoneInfo, ZoneInfoNotFoundError

from asgiref.sync import async_to_sync, iscoroutinefunction, markcoroutinefunction, sync_to_async
from django.conf import settings
from django.http import HttpRequest, HttpResponseBase, StreamingHttpResponse
from django.utils import timezone
from django.utils.module_loading import import_string

from apps.access.api.problems import problem_response

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
        self.console: Handler = get_response
        for name in names:
            self.console = _around(self.console, name)
        markcoroutinefunction(self)

    async def __call__(self, request: HttpRequest) -> HttpResponseBase:
        """Answer one request."""
        request.request_id = uuid.uuid4().hex  # type: ignore[attr-defined]
        if _lacks_slash(request):
            return problem_response(request, 404, f"Paths end in a slash: {request.path_info}/")
        chain = self.slim if request.path_info.startswith(SLIM) else self.console
        response = await chain(request)
        _make_asynchronous(response)
        response["X-Request-Id"] = request.request_id  # type: ignore[attr-defined]
        return response


class InTheViewersZone:
    """Write times in the zone of the viewer's browser, which the console's script puts into a cookie."""

    sync_capable = False
    async_capable = True

    def __init__(self, get_response: Handler) -> None:
        self.get_response = get_response
        markcoroutinefunction(self)

    async def __call__(self, request: HttpRequest) -> HttpResponseBase:
        """Answer one request."""
        with timezone.override(_zone(request.COOKIES.get("zone", ""))):
            return await self.get_response(request)


def _zone(name: str) -> ZoneInfo | None:
    """Give a time zone by its IANA name; None, which is UTC here, when there is none of this name."""
    try:
        return ZoneInfo(name) if name else None
    except (ValueError, OSError, ZoneInfoNotFoundError):
        return None


def _lacks_slash(request: HttpRequest) -> bool:
    """Say whether a request that carries a body would be redirected to its path with a slash, and lose the body."""
    path = request.path_info
    return path.startswith("/api/") and not path.endswith("/") and request.method not in {"GET", "HEAD", "OPTIONS"}


def _around(inner: Handler, name: str) -> Handler:
    """Put a middleware around a handler; one that knows only synchronous handlers gets one, as Django would do."""
    middleware = import_string(name)
    if getattr(middleware, "async_capable", False):
        return cast(Handler, middleware(inner))
    return sync_to_async(middleware(async_to_sync(inner)), thread_sensitive=True)


def _make_asynchronous(response: HttpResponseBase) -> None:
    """Let a file or an export be sent part by part without its iterator blocking the event loop."""
    if isinstance(response, StreamingHttpResponse) and not response.is_async:
        response.streaming_content = _parts(iter(cast(Iterator[bytes], response.streaming_content)))


async def _parts(parts: Iterator[bytes]) -> AsyncIterator[bytes]:
    read = sync_to_async(lambda: next(parts, None), thread_sensitive=True)
    while (part := await read()) is not None:
        yield part
