"""A program: one of libcachesim's caches over a trace.

It runs in an environment of its own: a folder with trace.npz in, hit.npz out.
"""

from __future__ import annotations

import sys
import time
from pathlib import Path
from typing import Any

import numpy as np


def main() -> None:
    """Read `folder kind capacity` from the command line, serve the trace, write which requests were hits."""
    import libcachesim

    folder, kind, capacity = Path(sys.argv[1]), sys.argv[2], int(sys.argv[3])
    trace = np.load(folder / "trace.npz")
    cache = getattr(libcachesim, kind)(cache_size=capacity)
    began = time.process_time()
    hit = served(cache, libcachesim.Request(), trace)
    np.savez(folder / "hit.npz", hit=hit, took_s=time.process_time() - began)


def served(cache: Any, request: Any, trace: Any) -> Any:
    """Ask for every row in turn."""
    hit = np.zeros(len(trace["row"]), np.bool_)
    began = float(trace["at"][0])
    columns = zip((trace["at"] - began).tolist(), trace["row"].tolist(), trace["size"].tolist(), strict=True)
    for place, (at, row, size) in enumerate(columns):
        request.clock_time, request.obj_id, request.obj_size = int(at), row + 1, size
        hit[place] = cache.get(request)
    return hit


if __name__ == "__main__":
    main()
