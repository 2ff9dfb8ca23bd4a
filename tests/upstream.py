"""A local server that speaks OpenAI's protocol, faults included."""

from __future__ import annotations

import json
import threading
import time
from collections.abc import Iterator
from contextlib import contextmanager
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any


class Upstream(ThreadingHTTPServer):
    """Answers every chat completion with `says`, or misbehaves the way `fault` tells."""

    daemon_threads = True

    def __init__(self, says: str = "It is so.") -> None:
        super().__init__(("127.0.0.1", 0), Handler)
        self.says = says
        self.fault = ""
        self.requests: list[dict[str, Any]] = []

    @property
    def url(self) -> str:
        """Give the base URL a client is configured with."""
        return f"http://127.0.0.1:{self.server_port}/v1"

    def handle_error(self, request: Any, client_address: Any) -> None:
        """Stay quiet when a client hangs up."""


class Handler(BaseHTTPRequestHandler):
    """One request."""

    server: Upstream
    protocol_version = "HTTP/1.1"

    def log_message(self, format: str, *args: Any) -> None:
        """Print nothing."""

    def do_GET(self) -> None:
        """List models."""
        self._json(
            200, {"object": "list", "data": [{"id": "gold-1", "object": "model", "created": 1, "owned_by": "t"}]}
        )

    def do_POST(self) -> None:
        """Answer or misbehave."""
        body = json.loads(self.rfile.read(int(self.headers["Content-Length"])))
        self.server.requests.append(body)
        fault = self.server.fault
        if fault == "slow":
            time.sleep(3)
        if fault in {"500", "429", "400"}:
            error = {"error": {"message": f"upstream says {fault}", "type": "t", "param": None, "code": None}}
            self._json(int(fault), error, {"Retry-After": "7"} if fault == "429" else {})
        elif fault == "garbage":
            self._json(200, "<html>", raw=True)
        elif body.get("stream"):
            self._stream(body, broken=fault == "breaks")
        else:
            self._json(200, self._completion(body))

    def _completion(self, body: dict[str, Any]) -> dict[str, Any]:
        message: dict[str, Any] = {"role": "assistant", "content": self.server.says}
        finish = "length" if self.server.fault == "cut" else "stop"
        choices = [{"index": 0, "message": message, "finish_reason": finish}]
        usage = {"prompt_tokens": 5, "completion_tokens": 7, "total_tokens": 12}
        return {
            "id": "u1",
            "object": "chat.completion",
            "created": 1,
            "model": body["model"],
            "choices": choices,
            "usage": usage,
        }

    def _stream(self, body: dict[str, Any], *, broken: bool) -> None:
        self.send_response(200)
        self.send_header("Content-Type", "text/event-stream")
        self.send_header("Transfer-Encoding", "chunked")
        self.end_headers()
        words = [word + " " for word in self.server.says.split()]
        for place, word in enumerate(words):
            if broken and place == len(words) // 2:
                self.close_connection = True
                self.connection.shutdown(2)
                return
            self._chunk(body, {"content": word}, None)
        self._chunk(body, {}, "stop")
        self._raw(b"data: [DONE]\n\n")
        self._raw(b"")

    def _chunk(self, body: dict[str, Any], delta: dict[str, Any], finish: str | None) -> None:
        choices = [{"index": 0, "delta": delta, "finish_reason": finish}]
        event = {
            "id": "u1",
            "object": "chat.completion.chunk",
            "created": 1,
            "model": body["model"],
            "choices": choices,
        }
        self._raw(b"data: " + json.dumps(event).encode() + b"\n\n")

    def _raw(self, data: bytes) -> None:
        self.wfile.write(f"{len(data):x}\r\n".encode() + data + b"\r\n")

    def _json(self, status: int, value: Any, headers: dict[str, str] | None = None, *, raw: bool = False) -> None:
        data = value.encode() if raw else json.dumps(value).encode()
        self.send_response(status)
        self.send_header("Content-Type", "text/html" if raw else "application/json")
        self.send_header("Content-Length", str(len(data)))
        for name, content in (headers or {}).items():
            self.send_header(name, content)
        self.end_headers()
        self.wfile.write(data)


@contextmanager
def upstream(says: str = "It is so.") -> Iterator[Upstream]:
    """Run the server in a thread."""
    server = Upstream(says)
    thread = threading.Thread(target=server.serve_forever, daemon=True)
    thread.start()
    try:
        yield server
    finally:
        server.shutdown()
        server.server_close()
        thread.join()
