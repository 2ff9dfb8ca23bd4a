"""An HTTP client for tests: through the real ASGI chain, inside the test's transaction."""

from __future__ import annotations

import json
import threading
from typing import Any, cast

from asgiref.sync import async_to_sync
from django.db import connection
from django.test import AsyncClient

from apps.access.api import pool


class Reply:
    """A reply, read to its end."""

    def __init__(self, response: Any, content: bytes) -> None:
        self.status_code: int = response.status_code
        self.headers = response.headers
        self.content = content

    def json(self) -> Any:
        """Read the body as JSON."""
        return json.loads(self.content)


class Http:
    """Calls one site with one key; the caches' pooled paths (/query/, /v1/) see only what is committed."""

    def __init__(self, secret: str = "") -> None:
        self.client = AsyncClient(raise_request_exception=False)
        self.headers = {"Authorization": f"Bearer {secret}"} if secret else {}

    def get(self, path: str) -> Reply:
        """GET a path."""
        return self.call("GET", path)

    def delete(self, path: str) -> Reply:
        """DELETE a path."""
        return self.call("DELETE", path)

    def post(self, path: str, body: Any = None, kind: str = "application/json", **headers: str) -> Reply:
        """POST a JSON value, or bytes of another kind."""
        return self.call("POST", path, body, kind, headers)

    def put(self, path: str, body: Any) -> Reply:
        """PUT a JSON value."""
        return self.call("PUT", path, body)

    def patch(self, path: str, body: Any) -> Reply:
        """PATCH with a JSON value."""
        return self.call("PATCH", path, body)

    def call(
        self,
        method: str,
        path: str,
        body: Any = None,
        kind: str = "application/json",
        headers: dict[str, str] | None = None,
    ) -> Reply:
        """Make a request; a body that is not bytes is sent as JSON."""
        data = body if isinstance(body, bytes) else b"" if body is None else json.dumps(body).encode()
        sent = {**self.headers, **{name.replace("_", "-"): value for name, value in (headers or {}).items()}}
        return async_to_sync(self._call)(method, path, data, kind, sent)

    async def _call(self, method: str, path: str, data: bytes, kind: str, headers: dict[str, str]) -> Reply:
        response = await self.client.generic(method, path, data, content_type=kind, headers=headers)
        if not response.streaming:
            return Reply(response, response.content)
        return Reply(response, b"".join([part async for part in cast(Any, response)]))


def hang_up() -> None:
    """Close the connections that the request path's threads keep, so that the test database can be dropped."""
    threads = len(pool.executor()._threads)
    barrier = threading.Barrier(threads) if threads else None

    def close() -> None:
        if barrier is not None:
            barrier.wait(10)
        connection.close()

    for done in [pool.executor().submit(close) for _ in range(threads)]:
        done.result(10)
