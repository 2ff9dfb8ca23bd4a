"""A real nginx edge before an origin, and a platform that speaks the contract and can be made to misbehave."""

from __future__ import annotations

import json
import subprocess
import sys
import threading
import time
from collections.abc import Iterator
from dataclasses import dataclass, field, replace
from http.client import HTTPConnection
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from typing import Any
from urllib.parse import urlsplit

import pytest

from config.edge.nginx import Nginx, Shape
from config.stack import children
from tests.conftest import free_port, wait_for
from workers.edge.settings import Settings

ROOT = Path(__file__).resolve().parents[3]


class Server:
    """An HTTP server of the tests that can die and come back on its port."""

    def __init__(self) -> None:
        self.port = free_port()
        self.url = f"http://127.0.0.1:{self.port}"
        self._server: ThreadingHTTPServer | None = None
        self.dead = True

    def start(self) -> None:
        server = self._server = ThreadingHTTPServer(("127.0.0.1", self.port), self._handler())
        server.daemon_threads = True
        self.dead = False
        threading.Thread(target=server.serve_forever, args=(0.01,), daemon=True).start()

    def stop(self) -> None:
        self.dead = True  # for the connections that are kept open
        if self._server is not None:
            self._server.shutdown()
            self._server.server_close()
            self._server = None

    def answer(self, method: str, path: str, body: bytes) -> tuple[int, bytes]:
        raise NotImplementedError

    def _handler(self) -> type[BaseHTTPRequestHandler]:
        server = self

        class Handler(BaseHTTPRequestHandler):
            protocol_version = "HTTP/1.1"

            def do_GET(self) -> None:
                if server.dead:
                    self.close_connection = True
                    return
                length = int(self.headers.get("Content-Length", 0))
                status, body = server.answer(self.command, self.path, self.rfile.read(length))
                try:
                    self.send_response(status)
                    if status != 204:
                        self.send_header("Content-Length", str(len(body)))
                    self.end_headers()
                    self.wfile.write(body)
                except OSError:
                    self.close_connection = True

            do_POST = do_GET  # noqa: N815

            def log_message(self, format: str, *args: Any) -> None:
                pass

        return Handler


class Origin(Server):
    """Sends `size` bytes for every path, slowly if told to, and counts."""

    def __init__(self) -> None:
        super().__init__()
        self.fetched: list[str] = []
        self.size, self.pause_s, self.sizes = 50_000, 0.0, dict[str, int]()

    def answer(self, method: str, path: str, body: bytes) -> tuple[int, bytes]:
        self.fetched.append(path)
        time.sleep(self.pause_s)
        return 200, b"x" * self.sizes.get(path, self.size)


class Platform(Server):
    """The segments API's four calls of an edge, in memory."""

    def __init__(self) -> None:
        super().__init__()
        self.registered: list[dict[str, Any]] = []
        self.reports: list[dict[str, Any]] = []
        self.results: dict[str, list[dict[str, Any]]] = {}
        self.plans: list[dict[str, Any]] = []
        self.status = 0  # answered to everything, when set

    def answer(self, method: str, path: str, body: bytes) -> tuple[int, bytes]:
        told = json.loads(body) if body else None
        parts = urlsplit(path)
        names = parts.path.removeprefix("/api/v1/segments/edges/").strip("/").split("/")
        if self.status:
            return self.status, b"{}"
        if names == [""] and method == "POST":
            self.registered.append(told)
            return 201, json.dumps({"id": "e1", "name": told["name"]}).encode()
        if not self.registered:
            return 404, b"{}"
        if names[1:] == ["report"]:
            self.reports.append(told)
            return 200, b"{}"
        if names[1:] == ["plan"]:
            after = parts.query.removeprefix("after=")
            fresh = [plan for plan in self.plans[-1:] if str(plan["id"]) != after]
            return (200, json.dumps(fresh[0]).encode()) if fresh else (204, b"")
        self.results.setdefault(names[2], []).append(told)
        return 200, b"{}"

    def plan(self, **told: Any) -> str:
        """Put a plan in force and give its id."""
        key = str(len(self.plans) + 1)
        self.plans.append({"id": key, "budget_bytes": 10**9, "limit_bps": 1e9, "shadow": False, **told})
        return key

    def done(self, plan: str) -> dict[str, Any]:
        """Wait for a plan's result."""
        return dict(wait_for(lambda: self.results.get(plan), 20)[-1])

    def last(self) -> dict[str, Any]:
        """Wait for a report that was begun after this moment."""
        before = len(self.reports)
        wait_for(lambda: len(self.reports) > before + 1, 20)
        return self.reports[-1]


def lines(*paths: str, size: int = 50_000) -> list[dict[str, Any]]:
    return [{"url": path, "bytes": size, "reason": "a test", "score": 1.0} for path in paths]


@dataclass
class Reply:
    status: int
    cache: str
    zone: str
    bytes: int


@dataclass
class Edge:
    """A running nginx, and its agent as a process."""

    nginx: Nginx
    settings: Settings
    origin: Origin
    platform: Platform
    agents: list[subprocess.Popen[bytes]] = field(default_factory=list)

    def get(self, path: str, method: str = "GET", **headers: str) -> Reply:
        connection = HTTPConnection("127.0.0.1", self.nginx.shape.port, timeout=30)
        try:
            connection.request(method, path, headers={name.replace("_", "-"): text for name, text in headers.items()})
            reply = connection.getresponse()
            body = reply.read()
            return Reply(reply.status, reply.getheader("X-Cache", ""), reply.getheader("X-Cache-Zone", ""), len(body))
        finally:
            connection.close()

    def start_agent(self, **changes: str) -> subprocess.Popen[bytes]:
        told = self.settings
        environment = {
            "EDGE_FOLDER": str(told.folder),
            "EDGE_URL": told.edge_url,
            "EDGE_TOKEN": told.edge_token,
            "EDGE_ORIGIN": told.origin,
            "EDGE_NAME": told.name,
            "EDGE_CAPACITY": str(told.capacity),
            "EDGE_PIN_SHARE": str(told.pin_share),
            "EDGE_TICK_S": "0.1",
            "EDGE_REPORT_S": "0.2",
            "EDGE_PLAN_S": "0.1",
            "TOUCHSTONE_URL": told.platform_url,
            "TOUCHSTONE_KEY": told.platform_key,
            **changes,
        }
        with (told.folder / "log" / "agent.log").open("ab") as log:
            command = [sys.executable, "-m", "workers.edge"]
            self.agents.append(children.start(command, output=log, environment=environment))
        return self.agents[-1]

    def kill_nginx(self) -> None:
        assert self.nginx.child is not None
        self.nginx.child.kill()
        wait_for(lambda: self.nginx.child is None or children.ended(self.nginx.child))

    def start_nginx(self) -> None:
        self.nginx.launch()
        self.nginx.wait()


@pytest.fixture
def origin() -> Iterator[Origin]:
    server = Origin()
    server.start()
    yield server
    server.stop()


@pytest.fixture
def platform() -> Iterator[Platform]:
    server = Platform()
    server.start()
    yield server
    server.stop()


@pytest.fixture
def shape(tmp_path: Path, origin: Origin) -> Shape:
    return Shape(
        tmp_path / "edge", origin.url, port=free_port(), name="test", capacity=4 * 2**20, pin_share=0.25, flush="50ms"
    )


@pytest.fixture
def edge(shape: Shape, origin: Origin, platform: Platform) -> Iterator[Edge]:
    nginx = Nginx(shape)
    nginx.launch()
    nginx.wait()
    settings = Settings(
        shape.folder,
        shape.url,
        nginx.token,
        origin.url,
        platform.url,
        "a key",
        name="test",
        capacity=shape.capacity,
        pin_share=0.25,
    )
    running = Edge(nginx, replace(settings), origin, platform)
    yield running
    for agent in running.agents:
        children.stop(agent)
    nginx.stop()
