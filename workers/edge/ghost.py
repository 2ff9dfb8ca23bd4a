"""Caches that hold no bytes: what plain LRU, or the plan, would have fetched from the origin for the same requests."""

from __future__ import annotations

from collections import OrderedDict
from collections.abc import Iterable

from workers.edge.contents import on_disk

HEAD_BYTES = 480  # what nginx writes before a body, about


def footprint(size: int) -> int:
    """Give what a body of `size` bytes takes on disk, as nginx counts it."""
    return on_disk(size + HEAD_BYTES)


class Ghost:
    """An LRU cache by bytes; what is pinned stays, and is not counted against the capacity (it has its own zone)."""

    def __init__(self, capacity: int) -> None:
        self.capacity = capacity
        self.bytes, self.origin_bytes, self.filled, self.began_at = 0, 0, 0, 0.0
        self.pinned: set[str] = set()
        self._held: OrderedDict[str, tuple[int, float]] = OrderedDict()
        self._sizes_pinned: dict[str, int] = {}
        self._now = 0.0

    def __contains__(self, name: str) -> bool:
        """Say whether a segment is held."""
        return name in self._held or name in self._sizes_pinned

    def ask(self, name: str, size: int, at: float) -> bool:
        """Take one request of a viewer; false, and counted against the origin, when it is not there."""
        self._tick(at)
        if name in self._sizes_pinned:
            return True
        if name in self._held:
            self._held[name] = (self._held[name][0], at)
            self._held.move_to_end(name)
            return True
        if size:
            self.origin_bytes += size
            self._insert(name, size, at)
        return False

    def fetch(self, name: str, size: int, at: float) -> bool:
        """Prewarm a segment; true, and counted against the origin, when it was not there."""
        self._tick(at)
        if name in self or not size:
            return False
        self.origin_bytes += size
        self._insert(name, size, at)
        return True

    def drop(self, name: str) -> None:
        """Evict a segment, if it is there."""
        size, _ = self._held.pop(name, (0, 0.0))
        self.bytes -= footprint(size) if size else 0

    def pin(self, names: set[str]) -> None:
        """Make these the pinned ones; those that are let go are gone."""
        for name in self.pinned - names:
            self._sizes_pinned.pop(name, None)
        self.pinned = set(names)
        for name in names & self._held.keys():
            self._sizes_pinned[name] = self._held[name][0]
            self.drop(name)

    def seed(self, held: Iterable[tuple[str, int, float]]) -> None:
        """Begin with what is there: name, bytes, and when it was last used (s), in any order."""
        for name, size, at in sorted(held, key=lambda one: one[2]):
            self._tick(at)
            self._insert(name, size, at)
        self.filled, self.began_at = 0, self._now

    def dump(self) -> list[tuple[str, int, float]]:
        """Give what is held, for `seed`."""
        return [(name, size, at) for name, (size, at) in self._held.items()]

    @property
    def turnover_s(self) -> float:
        """Give how long a segment stays without being asked for: the oldest one's age, or what filling promises."""
        if not self._held or not self._now:
            return 0.0
        oldest = self._now - next(iter(self._held.values()))[1]
        if self.bytes > 0.9 * self.capacity:
            return oldest
        elapsed = self._now - self.began_at
        promised = elapsed * self.capacity / self.filled if self.filled else 0.0
        return max(oldest, promised)

    def _insert(self, name: str, size: int, at: float) -> None:
        self.filled += footprint(size)
        if name in self.pinned:
            self._sizes_pinned[name] = size
            return
        self._held[name] = (size, at)
        self.bytes += footprint(size)
        while self.bytes > self.capacity and self._held:
            _, (gone, _) = self._held.popitem(last=False)
            self.bytes -= footprint(gone)

    def _tick(self, at: float) -> None:
        self._now = max(self._now, at)
        self.began_at = self.began_at or at
