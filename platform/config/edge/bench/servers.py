"""The two servers around the edge, each a process of its own: the origin, and a platform that plans out of band."""

from __future__ import annotations

import json
import multiprocessing
from collections.abc import Callable
from contextlib import suppress
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from multiprocessing.context import SpawnProcess
from multiprocessing.sharedctypes import Synchronized
from typing import Any, NamedTuple
from urllib.parse import parse_qs, urlsplit

import numpy as np

from apps.segments.core.plan import Line
from config.edge.bench.planner import Planner
from config.edge.bench.world import World, path_of, row_of

Answer = Callable[[str, str, bytes], tuple[int, bytes]]
SPAWN = multiprocessing.get_context("spawn")
PLAN_EVERY = 10  # requests


class Progress(NamedTuple):
    """What the processes share: requests sent so far, reports heard, plans made, and the ports they listen on."""

    sent: Synchronized[int]
    heard: Synchronized[int]
    plans: Synchronized[int]
    ports: Any


def progress() -> Progress:
    """Make what two servers and a driver share."""
    return Progress(SPAWN.Value("q", 0), SPAWN.Value("q", 0), SPAWN.Value("q", 0), SPAWN.Array("i", 2))


def start(world: World, shared: Progress, planning: bool) -> list[SpawnProcess]:
    """Start both servers; they end with this process."""
    found = [
        SPAWN.Process(target=serve_origin, args=(world, shared), daemon=True),
        SPAWN.Process(target=serve_platform, args=(world, shared, planning), daemon=True),
    ]
    for process in found:
        process.start()
    return found


def serve_origin(world: World, shared: Progress) -> None:
    """Send as many bytes as a segment has."""
    sizes = world.catalogue.sizes.tolist()
    body = b"x" * max(sizes)
    _serve(0, shared, lambda method, path, told: (200, body[: sizes[row_of(path)]]))


def serve_platform(world: World, shared: Progress, planning: bool) -> None:
    """Speak the contract; with `planning`, every plan is made from the edge's reports and the views so far."""
    platform = _Platform(world, shared, planning)
    _serve(1, shared, platform.answer)


class _Platform:
    def __init__(self, world: World, shared: Progress, planning: bool) -> None:
        self.world, self.shared = world, shared
        self.planner = Planner(world) if planning else None
        self.cached = np.zeros(len(world.catalogue.sizes), np.bool_)
        self.used, self.planned_at = 0, 0

    def answer(self, method: str, path: str, body: bytes) -> tuple[int, bytes]:
        parts = urlsplit(path)
        if parts.path.endswith("/report/"):
            self._report(json.loads(body))
        elif parts.path.endswith("/plan/"):
            return self._plan(parse_qs(parts.query).get("after", [""])[0])
        elif method == "POST" and parts.path.endswith("/edges/"):
            return 201, b'{"id": "bench"}'
        return 200, b"{}"

    def _report(self, told: dict[str, Any]) -> None:
        if told["whole"]:
            self.cached[:] = False
        self.cached[[row_of(one["url"]) for one in told["added"]]] = True
        self.cached[[row_of(url) for url in told["removed"]]] = False
        self.used = int(told["occupied_bytes"])
        self.shared.heard.value += 1

    def _plan(self, after: str) -> tuple[int, bytes]:
        sent = self.shared.sent.value
        if self.planner is None or sent < self.planned_at + PLAN_EVERY:
            return 204, b""
        self.planned_at = sent
        self.planner.observe(sent)
        made = self.planner.make(self.cached, self.used, self.world.capacity)
        self.shared.plans.value += 1
        told = {
            "id": str(self.shared.plans.value),
            "prewarm": _lines(made.prewarm),
            "evict": _lines(made.evict),
            "pin": [],
            "budget_bytes": made.budget_bytes,
            "limit_bps": made.limit_bps,
            "shadow": False,
        }
        return 200, json.dumps(told).encode()


def _lines(lines: list[Line]) -> list[dict[str, Any]]:
    return [{"url": path_of(line.row), "bytes": line.bytes, "reason": line.reason} for line in lines]


def _serve(which: int, shared: Progress, answer: Answer) -> None:
    class Handler(BaseHTTPRequestHandler):
        protocol_version = "HTTP/1.1"
        disable_nagle_algorithm = True

        def do_GET(self) -> None:
            body = self.rfile.read(int(self.headers.get("Content-Length", 0)))
            status, told = answer(self.command, self.path, body)
            self.send_response(status)
            if status != 204:
                self.send_header("Content-Length", str(len(told)))
            self.end_headers()
            with suppress(BrokenPipeError):  # the edge was stopped
                self.wfile.write(told)

        do_POST = do_GET  # noqa: N815 - the name that http.server looks for

        def log_message(self, format: str, *args: Any) -> None:
            pass

    with ThreadingHTTPServer(("127.0.0.1", 0), Handler) as server:
        server.daemon_threads = True
        shared.ports[which] = server.server_port
        server.serve_forever()
