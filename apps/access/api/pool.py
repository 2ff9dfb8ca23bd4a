"""The request path's own threads: each keeps working, so a request costs one hop and no new thread.

Django runs a synchronous view in a fresh thread per request under ASGI; on the caches' path that costs more than the
answer itself.
"""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable
from concurrent.futures import ThreadPoolExecutor
from functools import lru_cache, wraps
from typing import Any, ParamSpec, TypeVar

from django.db import close_old_connections, reset_queries
from django.http import HttpRequest, HttpResponse, HttpResponseBase
from django.views.decorators.csrf import csrf_exempt
from rest_framework.response import Response

P = ParamSpec("P")
R = TypeVar("R")
THREADS = 8


@lru_cache(maxsize=1)
def executor() -> ThreadPoolExecutor:
    """Give this process's threads for the request path."""
    return ThreadPoolExecutor(THREADS, thread_name_prefix="serve")


async def run(verb: Callable[P, R], *args: P.args, **kwargs: P.kwargs) -> R:
    """Run a synchronous verb in one of the threads; its database connection goes back to the pool."""

    def call() -> R:
        reset_queries()
        try:
            return verb(*args, **kwargs)
        finally:
            close_old_connections()

    return await asyncio.get_running_loop().run_in_executor(executor(), call)


def pooled(view: Callable[..., HttpResponseBase]) -> Callable[..., Awaitable[HttpResponseBase]]:
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
