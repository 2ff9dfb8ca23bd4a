"""The edge's access log: lines of JSON, read as they come, across rotation, truncation and restarts of either side."""

from __future__ import annotations

import json
import os
import time
from collections.abc import Iterator
from contextlib import suppress
from pathlib import Path
from typing import IO, Any, NamedTuple

FETCHED = {"MISS", "EXPIRED", "BYPASS"}
FROM_CACHE = {"HIT", "STALE", "UPDATING", "REVALIDATED"}
PLAYLISTS = (".m3u8", ".mpd")
BATCH = 20_000
GRACE_S = 3.0  # nginx's workers write a little longer to a file that was renamed


class Access(NamedTuple):
    """One request: who asked (`viewer` or `prewarm`), what came of it, in bytes; `size` is the segment's, 0 unknown."""

    at: float
    key: str
    source: str
    zone: str
    cache: str
    status: int
    bytes: int
    size: int
    origin_bytes: int

    @property
    def outcome(self) -> str:
        """Give the outcome in the platform's words."""
        if self.source == "prewarm":
            return "prewarm"
        if self.cache in FROM_CACHE or (self.zone == "pins" and not self.origin_bytes):
            return "pinned_hit" if self.zone == "pins" else "hit"
        return "miss"

    @property
    def good(self) -> bool:
        """Say whether the segment, or a part of it, was sent."""
        return self.status in (200, 206, 304)

    @property
    def playlist(self) -> bool:
        """Say whether it is a playlist, which is kept for moments only."""
        return self.key.partition("?")[0].endswith(PLAYLISTS)


def read(line: bytes) -> Access | None:
    """Read a line; None when it is broken or tells of something else than media."""
    try:
        told: dict[str, Any] = json.loads(line.decode("utf-8", "surrogateescape"))
        key, cache, zone = str(told["key"]), str(told["cache"]), str(told["zone"])
        if key.startswith("/edge/") or not cache:
            return None
        fetched = cache in FETCHED and told["inner"] != "HIT"
        status, length = int(told["status"]), _sum(told["up_length"]) or _sum(told["length"])
        return Access(
            float(told["at"]),
            key,
            str(told["source"]),
            zone,
            cache,
            status,
            int(told["bytes"]),
            length if status == 200 else 0,
            _sum(told["up_bytes"]) if fetched else 0,
        )
    except (ValueError, KeyError, TypeError):
        return None


def _sum(listed: object) -> int:
    """Add what nginx lists for each server that it tried: `12, 3400`, `-` or nothing."""
    return sum(int(part) for part in str(listed).replace(":", ",").split(",") if part.strip().isdigit())


class Tail:
    """Read a log from where the last run stopped; `state` is what the next run needs."""

    def __init__(self, path: Path, state: dict[str, int] | None = None, most_bytes: int = 64 << 20) -> None:
        self.path, self.most_bytes = path, most_bytes
        self.offset, self._file = 0, None if state is None else self._find(state.get("inode", 0))
        if state is not None and self._file is not None:
            self.offset = state.get("offset", 0)
        self._moved_at = 0.0

    @property
    def state(self) -> dict[str, int]:
        """Give inode and offset of what was read."""
        return {"inode": os.fstat(self._file.fileno()).st_ino if self._file else 0, "offset": self.offset}

    def new(self) -> Iterator[Access]:
        """Give what came since the last call, a batch at most."""
        if self._file is None and not self._open():
            return
        yield from self._drain()
        if self._was_moved() and time.monotonic() - self._moved_at > GRACE_S:
            yield from self._drain()
            if self._file is not None:
                self._file.close()
            self._file, self.offset, self._moved_at = None, 0, 0.0
            if self._open():
                yield from self._drain()

    def rotate(self) -> bool:
        """Move a log that is too long aside; true when nginx must open a new one."""
        with suppress(OSError):
            if self.path.stat().st_size > self.most_bytes:
                self.path.replace(self.path.with_suffix(".log.1"))
                return True
        return False

    def close(self) -> None:
        """Let go of the file."""
        if self._file is not None:
            self._file.close()

    def _drain(self) -> Iterator[Access]:
        assert self._file is not None
        if os.fstat(self._file.fileno()).st_size < self.offset:
            self.offset = 0
        self._file.seek(self.offset)
        for _ in range(BATCH):
            line = self._file.readline()
            if not line.endswith(b"\n"):
                return
            self.offset += len(line)
            if (access := read(line)) is not None:
                yield access

    def _was_moved(self) -> bool:
        assert self._file is not None
        try:
            moved = self.path.stat().st_ino != os.fstat(self._file.fileno()).st_ino
        except OSError:
            return False  # renamed, and nothing new yet: the old one may still be written to
        if moved and not self._moved_at:
            self._moved_at = time.monotonic()
        return moved

    def _open(self) -> bool:
        with suppress(OSError):
            self._file = self.path.open("rb")
            return True
        return False

    def _find(self, inode: int) -> IO[bytes] | None:
        for path in (self.path, self.path.with_suffix(".log.1")):
            with suppress(OSError):
                if path.stat().st_ino == inode:
                    return path.open("rb")
        return None
