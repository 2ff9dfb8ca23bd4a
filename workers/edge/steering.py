"""How the agent moves bytes at nginx: HEAD prewarms within budgets, pins by marker files, evictions by unlinking."""

from __future__ import annotations

import http.client
import threading
import time
from collections.abc import Iterable
from contextlib import suppress
from dataclasses import dataclass, field
from pathlib import Path
from urllib.parse import urlsplit

from workers.edge.addresses import Target, file_of
from workers.edge.plans import Line

TIMEOUT_S = 30.0
TRIES = 3
MORE_THAN_TOLD = 1.25  # a segment larger than this many times its told size counts as a lie


@dataclass(slots=True)
class Done:
    """What was done of one plan: counts and bytes, and (address, reason) of what was not."""

    prewarmed: int = 0
    prewarmed_bytes: int = 0
    present: int = 0
    evicted: int = 0
    evicted_bytes: int = 0
    pinned: int = 0
    unpinned: int = 0
    lies: int = 0
    refused: list[tuple[str, str]] = field(default_factory=list)


class Nginx:
    """The edge's own server, spoken to with the token; one connection a flow."""

    def __init__(self, url: str, token: str, folder: Path) -> None:
        parts = urlsplit(url)
        self.host, self.port = parts.hostname or "127.0.0.1", parts.port or 80
        self.headers = {"X-Edge-Token": token}
        self.folder = folder

    def connect(self) -> http.client.HTTPConnection:
        """Open a connection for one flow."""
        return http.client.HTTPConnection(self.host, self.port, timeout=TIMEOUT_S)

    def head(self, flow: http.client.HTTPConnection, path: str) -> tuple[int, str, int]:
        """Ask for the head of a path: status, cache status and length (0 unknown); raises OSError, HTTPException."""
        try:
            flow.request("HEAD", path, headers=self.headers)
            reply = flow.getresponse()
            reply.read()
        except (OSError, http.client.HTTPException):
            flow.close()
            raise
        length = reply.getheader("Content-Length") or "0"
        return reply.status, reply.getheader("X-Cache") or "", int(length) if length.isdigit() else 0

    def forget(self, target: Target, zone: str = "segments") -> int:
        """Take a segment out of a zone: nginx counts it as empty, then its file goes; gives the bytes freed."""
        file = file_of(self.folder / zone, target.digest)
        try:
            before = file.stat()
        except OSError:
            return 0
        flow = self.connect()
        with suppress(OSError, http.client.HTTPException):  # a server that is down counts anew when it starts
            status, _, _ = self.head(flow, f"/edge/forget{'-pin' if zone == 'pins' else ''}{target.path}")
            if status == 410:
                _wait_for_another(file, before.st_ino)  # the head comes before the stub lies there
        flow.close()
        file.unlink(missing_ok=True)
        return before.st_size


def _wait_for_another(file: Path, inode: int, patience_s: float = 2.0) -> None:
    deadline = time.monotonic() + patience_s
    with suppress(OSError):
        while file.stat().st_ino == inode and time.monotonic() < deadline:
            time.sleep(0.0005)


class Bucket:
    """Bytes that may be asked for, at a rate in bit/s; half a second's worth may come at once."""

    def __init__(self, bps: float) -> None:
        self.rate = bps / 8
        self._left, self._at = self.rate / 2, time.monotonic()
        self._lock = threading.Lock()

    def take(self, size: int, stop: threading.Event) -> bool:
        """Wait until `size` bytes are allowed; false when there is no rate or when told to stop."""
        if self.rate <= 0:
            return False
        with self._lock:
            now = time.monotonic()
            self._left = min(self.rate / 2, self._left + (now - self._at) * self.rate) - size
            self._at = now
            pause = -self._left / self.rate
        return not (stop.wait(pause) if pause > 0 else stop.is_set())


class Prewarmer:
    """Fetches the segments of one plan through nginx, so that no viewer's request and no key is fetched twice."""

    def __init__(self, nginx: Nginx, done: Done, stop: threading.Event, flows: int) -> None:
        self.nginx, self.done, self.stop, self.flows = nginx, done, stop, flows
        self._lock = threading.Lock()

    def run(self, lines: Iterable[Line], budget_bytes: int, limit_bps: float) -> None:
        """Fetch lines in order, within bytes and rate; returns when all are done or the plan is over."""
        self._left, self._queue, self._bucket = budget_bytes, iter(lines), Bucket(limit_bps)
        threads = [threading.Thread(target=self._flow, daemon=True) for _ in range(self.flows)]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()

    def _flow(self) -> None:
        flow = self.nginx.connect()
        while not self.stop.is_set() and (line := self._next()) is not None:
            self._fetch(flow, line)
        flow.close()

    def _next(self) -> Line | None:
        """Give the next line that fits into the budget."""
        with self._lock:
            for line in self._queue:
                if line.bytes <= self._left:
                    self._left -= line.bytes
                    return line
                self.done.refused.append((line.target.path, "over the plan's bytes"))
        return None

    def _fetch(self, flow: http.client.HTTPConnection, line: Line) -> None:
        if not self._bucket.take(line.bytes, self.stop):
            return self._refuse(line, "the plan ended first")
        for attempt in range(TRIES):
            try:
                status, cache, length = self.nginx.head(flow, f"/edge/prewarm{line.target.path}")
            except (OSError, http.client.HTTPException):
                status, cache, length = 0, "", 0
            if status not in (0, 429) or attempt == TRIES - 1:
                return self._count(line, status, cache, length)
            if self.stop.wait(0.5 * (attempt + 1)):
                return self._refuse(line, "the plan ended first")
        return None

    def _count(self, line: Line, status: int, cache: str, length: int) -> None:
        if status != 200:
            return self._refuse(line, f"the edge answered {status}" if status else "the edge does not answer")
        with self._lock:
            if cache == "HIT":
                self.done.present += 1
                self._left += line.bytes
                return None
            more = length - line.bytes
            self._left -= more
            self.done.lies += length > line.bytes * MORE_THAN_TOLD + 1024
            self.done.prewarmed += 1
            self.done.prewarmed_bytes += length or line.bytes
        if more > 0:
            self._bucket.take(more, self.stop)
        return None

    def _refuse(self, line: Line, reason: str) -> None:
        with self._lock:
            self.done.refused.append((line.target.path, reason))


class Pins:
    """Marker files, which nginx looks for at each request: a pin needs no reload and outlives every restart."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder / "pinned"
        self.places = {f"/{path.relative_to(self.folder)}"[: -len(".pin")] for path in self.folder.rglob("*.pin")}

    def add(self, place: str) -> bool:
        """Pin; false when it cannot be."""
        marker = self._marker(place)
        try:
            marker.parent.mkdir(parents=True, exist_ok=True)
            marker.touch()
        except (OSError, ValueError):
            return False
        self.places.add(place)
        return True

    def remove(self, place: str) -> None:
        """Unpin."""
        self._marker(place).unlink(missing_ok=True)
        self.places.discard(place)

    def _marker(self, place: str) -> Path:
        return self.folder / f"{place[1:]}.pin"
