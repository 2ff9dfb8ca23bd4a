"""Keep a zone within its bytes by plain LRU, second by second; nginx's own manager looks only every ten seconds."""

from __future__ import annotations

from workers.edge.addresses import Target, digest
from workers.edge.contents import Contents
from workers.edge.journal import Access
from workers.edge.steering import Nginx

MOST_AT_ONCE = 1000
SLACK = 0.998  # trim a little below the limit, so that not every segment trims


class Trimmer:
    """Remembers when each segment was last asked for, and takes the coldest away when there are too many."""

    def __init__(self, nginx: Nginx, contents: Contents, capacity: int) -> None:
        self.nginx, self.contents, self.capacity = nginx, contents, capacity
        self._used_at: dict[str, float] = {}

    def take(self, access: Access) -> None:
        """Note that a segment was used."""
        if access.good:
            self._used_at[digest(access.key)] = access.at

    def trim(self) -> int:
        """Evict the coldest until the zone fits; gives the bytes freed."""
        excess, freed = self.contents.bytes - self.capacity, 0
        if excess <= 0:
            return 0
        excess += int(self.capacity * (1 - SLACK))
        held = self.contents.held
        self._used_at = {name: at for name, at in self._used_at.items() if name in held}
        coldest = sorted(held, key=lambda name: self._used_at.get(name, held[name].written_at))
        for name in coldest[:MOST_AT_ONCE]:
            if freed >= excess:
                break
            freed += self.nginx.forget(Target.of(held[name].key)) and held[name].bytes
        return freed
