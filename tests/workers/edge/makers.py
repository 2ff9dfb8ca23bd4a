"""Lines of an edge's journal, and what an edge may ask for."""

from __future__ import annotations

import json

from workers.edge.addresses import Allowed
from workers.edge.journal import Access, read

ORIGIN = "https://media.example.org"
ALLOWED = Allowed(ORIGIN)


def line(key: str = "/media/a", **changes: object) -> bytes:
    told = {"at": 1.0, "key": key, "source": "viewer", "zone": "segments", "cache": "HIT", "inner": "", "status": 200}
    told |= {"bytes": 10, "length": "10", "up_bytes": "", "up_length": ""} | changes
    return json.dumps(told).encode() + b"\n"


def access(key: str = "/media/a", cache: str = "HIT", size: int = 10_000, **changes: object) -> Access:
    told = {"length": str(size), "bytes": size} | ({"up_bytes": str(size + 200)} if cache == "MISS" else {})
    found = read(line(key, cache=cache, **{**told, **changes}))
    assert found is not None
    return found
