"""The request path's own threads: each keeps working, so a request costs one hop and no new thread.

Django runs a synchronous view in a fresh thread per request under ASGI; on the caches' path that costs more than the
answer itself.
"""

from __future__ import annotations

import asyncio
import threading
import time
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from functools import lru_cache, wraps
from typing import Any, ParamSpec, TypeVar

from django.db import connection
from django.http import HttpRequest, HttpResponse, HttpResponseBase
from django.views.decorators.csrf import csrf_exempt
from rest_framework.response import Response

P = ParamSpec("P")
R = TypeVar("R")
THREADS = 8
IDLE_S = 1.0


@lru_cache(maxsize=1)
def executor() -> ThreadPoolExecutor:
    """Give this process's threads for the request path."""
    return ThreadPoolExecutor(THREADS, thread_name_prefix="serve")


async def run(verb: Callable[P, R], *args: P.args, **kwargs: P.kwargs) -> R:
    """Run a synchronous verb in one of the threads, each of which keeps its database connection."""

    def call() -> R:
        _fresh_connection()
        try:
            return verb(*args, **kwargs)
        finally:
            if connection.errors_occurred:
                connection.close()

    return await asyncio.get_running_loop().run_in_executor(executor(), call)


class Used(threading.local):
    """When this thread last used its database connection."""

    at = 0.0


_used = Used()


def _fresh_connection() -> None:
    """Drop a connection that died while it was idle; a busy one is not asked, for that costs a round trip."""
    now = time.monotonic()
    if now - _used.at > IDLE_S and connection.connection is not None and not connection.is_usable():
        connection.close()
    _used.at = now


def pooled(view: Callable[..., HttpResponseBase]) -> Any:
    """Turn a synchronous API view into an asynchronous one that runs and renders in those threads."""

    def whole(request: HttpRequest, *args: Any, **kwargs: Any) -> HttpResponseBase:
        response = view(request, *args, **kwargs)
        if not isinstance(response, Response):
            return response
        response.render()
        return HttpResponse(response.content, status=response.status_code, headers=response.headers)

    @wraps(view)
    async def call(request: HttpRequest, *args: Any, **kwargs: Any) -> HttpResponseBase:
        return await run(whole, request, *args, **kwargs)

    return csrf_exempt(call)
