"""What truly lies in a zone of the cache: a walk that looks again only into folders that changed."""

from __future__ import annotations

import os
import sys
import time
from collections.abc import Iterator
from contextlib import suppress
from dataclasses import dataclass, field
from pathlib import Path

HEAD_BYTES = 4096
BLOCK = 4096
STUB_VALID_S = 1  # s since 1970, second field of nginx's header: long stale
SETTLED_NS = 2_000_000_000  # a folder that changed just now may change again within one tick of its clock


@dataclass(frozen=True, slots=True)
class Held:
    """One file of the cache: its key, its bytes on disk, and when it was written (s since 1970)."""

    key: str
    bytes: int
    written_at: float


@dataclass(slots=True)
class Changes:
    """What came and what went since the last walk, by key."""

    added: dict[str, int] = field(default_factory=dict)
    removed: dict[str, int] = field(default_factory=dict)


class Contents:
    """The files of one zone."""

    def __init__(self, zone: Path) -> None:
        self.zone = zone
        self.held: dict[str, Held] = {}
        self.bytes = 0
        self._folders: dict[str, tuple[int, frozenset[str]]] = {}

    def walk(self) -> Changes:
        """Look again, and say what changed."""
        changes, seen = Changes(), set()
        now = time.time_ns()
        for folder in self._leaves():
            seen.add(folder)
            with suppress(OSError):
                changed = os.stat(folder).st_mtime_ns
                if self._folders.get(folder, (0, None))[0] != changed:
                    names = self._look(folder, changes)
                    settled = changed if now - changed > SETTLED_NS else 0
                    self._folders[folder] = (settled, names)
        for folder in self._folders.keys() - seen:
            self._leave(self._folders.pop(folder)[1], changes)
        return changes

    def _leaves(self) -> Iterator[str]:
        for first in _folders(str(self.zone)):
            yield from _folders(first)

    def _look(self, folder: str, changes: Changes) -> frozenset[str]:
        before = self._folders.get(folder, (0, frozenset[str]()))[1]
        names = set()
        with os.scandir(folder) as entries:
            for entry in entries:
                if len(entry.name) != 32:  # nginx is still writing it
                    continue
                names.add(entry.name)
                if entry.name not in self.held:
                    self._enter(entry, changes)
        self._leave(before - names, changes)
        return frozenset(names)

    def _enter(self, entry: os.DirEntry[str], changes: Changes) -> None:
        with suppress(OSError):
            key, status = key_of(Path(entry.path)), entry.stat()
            if key is None:
                return
            size = on_disk(status.st_size)
            self.held[entry.name] = Held(key, size, status.st_mtime)
            self.bytes += size
            changes.added[key] = size

    def _leave(self, names: frozenset[str], changes: Changes) -> None:
        for name in names:
            held = self.held.pop(name, None)
            if held is not None:
                self.bytes -= held.bytes
                changes.removed[held.key] = held.bytes


def on_disk(size: int) -> int:
    """Give what a file takes, in whole blocks, as nginx counts it."""
    return -(-size // BLOCK) * BLOCK


def key_of(path: Path) -> str | None:
    """Read the key out of the head of a cache file; None when there is none, or when it is a stub (see steering)."""
    with path.open("rb") as file:
        head = file.read(HEAD_BYTES)
    if int.from_bytes(head[8:16], sys.byteorder) == STUB_VALID_S:
        return None
    _, found, rest = head.partition(b"\nKEY: ")
    key, ended, _ = rest.partition(b"\n")
    return key.decode("utf-8", "surrogateescape") if found and ended else None


def _folders(path: str) -> list[str]:
    with suppress(OSError), os.scandir(path) as entries:
        return [entry.path for entry in entries if entry.is_dir(follow_symlinks=False)]
    return []
