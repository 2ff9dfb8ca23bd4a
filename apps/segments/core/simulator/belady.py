"""Belady's bound: what leaves is what will be wanted again last; with the future known."""

from __future__ import annotations

import heapq

import numpy as np
from numba import njit


@njit(cache=True)  # type: ignore[untyped-decorator, unused-ignore]
def run(row, sizes, next_use, capacity):  # type: ignore[no-untyped-def]
    """Serve requests; returns which were hits. A segment that would leave at once is not taken in."""
    rows = len(sizes)
    due = np.full(rows, -1)  # the next use of what is inside
    heap = [(0, 0)]
    heap.pop()
    hit = np.zeros(len(row), np.bool_)
    free = capacity
    for place in range(len(row)):
        wanted = row[place]
        if due[wanted] >= 0:
            hit[place] = True
        else:
            free -= sizes[wanted]
        due[wanted] = next_use[place]
        heapq.heappush(heap, (-next_use[place], wanted))
        while free < 0:
            use, last = heapq.heappop(heap)
            if due[last] == -use:
                due[last] = -1
                free += sizes[last]
    return hit
