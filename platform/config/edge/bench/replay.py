"""One replay: nginx with its agent, origin and platform around it, and a driver that asks for what the trace says."""

from __future__ import annotations

import http.client
import subprocess
import sys
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path

from config.edge.bench import servers
from config.edge.bench.world import World, path_of
from config.edge.nginx import Nginx, Shape
from config.stack import children
from workers.edge import journal

PATIENCE_S = 60.0


@dataclass(frozen=True, slots=True)
class Replayed:
    """What the measured half came to, from nginx's own log: requests, hits, bytes; and plans made in all."""

    requests: int
    hits: int
    failed: int
    hit_bytes: int
    origin_bytes: int
    prewarm_bytes: int
    plans: int


def replay(world: World, folder: Path, port: int, planning: bool, rate: float) -> Replayed:
    """Replay at `rate` requests a second; whether plans are made is the only difference between two replays."""
    shared = servers.progress()
    around = servers.start(world, shared, planning)
    try:
        with _edge(world, folder, port, _ports(shared)):
            _until(lambda: shared.heard.value > 0)
            _drive(world, port, shared, rate)
            time.sleep(2.0)  # the log's last lines
            return _read(folder / "log" / "access.log", world.warm, shared.plans.value)
    finally:
        for process in around:
            process.terminate()
            process.join()


@contextmanager
def _edge(world: World, folder: Path, port: int, ports: tuple[int, int]) -> Iterator[None]:
    origin, platform = (f"http://127.0.0.1:{one}" for one in ports)
    nginx = Nginx(Shape(folder, origin, port=port, name="bench", capacity=world.capacity, pin_share=0, flush="50ms"))
    agent: subprocess.Popen[bytes] | None = None
    try:
        nginx.launch()
        nginx.wait()
        told = {
            "EDGE_FOLDER": str(folder),
            "EDGE_URL": nginx.shape.url,
            "EDGE_TOKEN": nginx.token,
            "EDGE_ORIGIN": origin,
            "EDGE_CAPACITY": str(world.capacity),
            "EDGE_PIN_SHARE": "0",
            "EDGE_TICK_S": "0.02",
            "EDGE_REPORT_S": "0.02",
            "EDGE_PLAN_S": "0.02",
            "EDGE_WINDOW_S": "86400",
            "TOUCHSTONE_URL": platform,
            "TOUCHSTONE_KEY": "bench",
            "EDGE_LINE_BPS": "1e12",
        }
        with (folder / "log" / "agent.log").open("ab") as log:
            agent = children.start([sys.executable, "-m", "workers.edge"], output=log, environment=told)
        yield
    finally:
        if agent is not None:
            children.stop(agent)
        nginx.stop()


def _ports(shared: servers.Progress) -> tuple[int, int]:
    _until(lambda: all(shared.ports))
    return shared.ports[0], shared.ports[1]


def _until(ready: Callable[[], bool]) -> None:
    deadline = time.monotonic() + PATIENCE_S
    while not ready():
        if time.monotonic() > deadline:
            raise TimeoutError(f"the edge was not ready within {PATIENCE_S:.0f} s")
        time.sleep(0.05)


def _drive(world: World, port: int, shared: servers.Progress, rate: float) -> None:
    """Ask in order, not faster than told."""
    flow = http.client.HTTPConnection("127.0.0.1", port, timeout=30)
    began = time.monotonic()
    for place, row in enumerate(world.row.tolist()):
        pause = began + place / rate - time.monotonic()
        if pause > 0:
            time.sleep(pause)
        _ask(flow, path_of(row))
        shared.sent.value = place + 1
    flow.close()


def _ask(flow: http.client.HTTPConnection, path: str) -> None:
    """Ask once, and once more where nginx had closed the idle connection, as any client does."""
    for _ in range(2):
        try:
            flow.request("GET", path)
            flow.getresponse().read()
            return
        except (OSError, http.client.HTTPException):
            flow.close()


def _read(log: Path, warm: int, plans: int) -> Replayed:
    """Leave out the first `warm` viewers' requests and all before them: counted, since a line's time is cut to 1 ms."""
    lines = [found for line in log.read_bytes().splitlines() if (found := journal.read(line)) is not None]
    lines.sort(key=lambda line: line.at)
    first = [place for place, one in enumerate(lines) if one.source == "viewer"][warm:][:1]
    measured = lines[first[0] :] if first else []
    viewers = [one for one in measured if one.source == "viewer"]
    hits = [one for one in viewers if one.good and not one.origin_bytes]
    return Replayed(
        len(viewers),
        len(hits),
        sum(not one.good for one in viewers),
        sum(one.size for one in hits),
        sum(one.size for one in measured if one.origin_bytes),
        sum(one.size for one in measured if one.origin_bytes and one.source == "prewarm"),
        plans,
    )
