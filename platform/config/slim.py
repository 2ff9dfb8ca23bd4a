"""The request path's own way in: straight from ASGI to the view, past the console's middleware and signals.

Django's handler starts threads for its signals on every request; on this path they would cost more than the answer.
"""

from __future__ import annotations

import io
import logging
import uuid
from collections.abc import Awaitable, Callable, MutableMapping
from typing import Any

from django.conf import settings
from django.core.exceptions import RequestDataTooBig
from django.core.handlers.asgi import ASGIRequest
from django.http import HttpResponseBase
from django.urls import Resolver404, resolve

from apps.access.api.problems import problem_response
from apps.answers.api import openai

log = logging.getLogger(__name__)
Message = MutableMapping[str, Any]
Receive = Callable[[], Awaitable[Message]]
Send = Callable[[Message], Awaitable[None]]
OPENAI = "/v1/"
PATHS = ("/api/v1/answers/query/", OPENAI)


def takes(scope: Message) -> bool:
    """Say whether a request goes this way."""
    return bool(scope["type"] == "http" and scope["path"].startswith(PATHS))


async def application(scope: Message, receive: Receive, send: Send) -> None:
    """Answer one request with an asynchronous view."""
    request_id = uuid.uuid4().hex
    body, whole = await _body(receive)
    request = ASGIRequest(scope, io.BytesIO(body))
    request.request_id = request_id  # type: ignore[attr-defined]
    response = await _answer(request, whole)
    response["X-Request-Id"] = request_id
    await _send(response, send)


async def _answer(request: ASGIRequest, whole: bool) -> HttpResponseBase:
    if not whole:
        return _problem(request, 413, "The body is larger than this door takes.")
    try:
        match = resolve(request.path_info)
        request.resolver_match = match
        response: HttpResponseBase = await match.func(request, *match.args, **match.kwargs)
    except Resolver404:
        return _problem(request, 404, "There is nothing at this path.")
    except RequestDataTooBig:
        return _problem(request, 413, "The body is larger than this door takes.")
    except Exception:
        log.exception("a view failed")
        return _problem(request, 500, "Something went wrong here; the request id helps to find it.")
    if response.status_code == 405 and request.path_info.startswith(OPENAI):
        return openai.failure(405, f"{request.method} is not allowed here.")
    return response


def _problem(request: ASGIRequest, status: int, detail: str) -> HttpResponseBase:
    """Say what is wrong in the door's own shape."""
    if request.path_info.startswith(OPENAI):
        return openai.failure(status, detail, "server_error" if status >= 500 else "invalid_request_error")
    return problem_response(request, status, detail)


async def _body(receive: Receive) -> tuple[bytes, bool]:
    """Read the body up to the limit; the second value says whether that was all of it."""
    parts, size, more = [], 0, True
    while more:
        message = await receive()
        if message["type"] == "http.disconnect":
            break
        size += len(message.get("body", b""))
        if size <= settings.SLIM_BODY_BYTES:
            parts.append(message.get("body", b""))
        more = message.get("more_body", False)
    return b"".join(parts), size <= settings.SLIM_BODY_BYTES


async def _send(response: HttpResponseBase, send: Send) -> None:
    streaming = getattr(response, "streaming", False)
    content: bytes = b"" if streaming else response.content  # type: ignore[attr-defined]
    headers = [(name.lower().encode("ascii"), value.encode("latin-1")) for name, value in response.items()]
    if not streaming:
        headers.append((b"content-length", str(len(content)).encode()))
    await send({"type": "http.response.start", "status": response.status_code, "headers": headers})
    if streaming:
        async for part in response:  # type: ignore[attr-defined]
            await send({"type": "http.response.body", "body": part, "more_body": True})
    await send({"type": "http.response.body", "body": content})
    response.close()
