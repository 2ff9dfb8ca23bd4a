"""S3-FIFO (Yang et al., SOSP 2023): a small queue for newcomers, a main queue, and a list of those who left."""

from __future__ import annotations

import numpy as np
from numba import njit

SMALL_SHARE = 0.1
NOWHERE, SMALL, MAIN, GHOST = 0, 1, 2, 3


@njit(cache=True)  # type: ignore[untyped-decorator, unused-ignore]
def run(row, sizes, capacity):  # type: ignore[no-untyped-def]
    """Serve requests; returns which were hits."""
    where, count = np.zeros(len(sizes), np.int8), np.zeros(len(sizes), np.int8)
    entered, used = np.zeros(len(sizes), np.int64), np.zeros(4, np.int64)
    queues, heads = [[-1], [-1], [-1], [-1]], np.ones(4, np.int64)
    small = np.int64(capacity * SMALL_SHARE)
    hit = np.zeros(len(row), np.bool_)
    for place in range(len(row)):
        wanted = row[place]
        if where[wanted] == SMALL or where[wanted] == MAIN:
            hit[place] = True
            count[wanted] = min(3, count[wanted] + 1)
        elif sizes[wanted] <= capacity:
            while used[SMALL] + used[MAIN] + sizes[wanted] > capacity:
                if used[SMALL] > small or used[MAIN] == 0:
                    _leave_small(where, count, entered, used, queues, heads, sizes, capacity - small)
                else:
                    _leave_main(where, count, used, queues, heads, sizes)
            known = where[wanted] == GHOST
            if known:
                used[GHOST] -= sizes[wanted]
            where[wanted], count[wanted] = (MAIN if known else SMALL), 0
            used[where[wanted]] += sizes[wanted]
            queues[where[wanted]].append(wanted)
    return hit


@njit(cache=True)  # type: ignore[untyped-decorator, unused-ignore]
def _leave_small(where, count, entered, used, queues, heads, sizes, remembered):  # type: ignore[no-untyped-def]
    """Move the oldest newcomer to the main queue if it was asked for again, else to the ghosts."""
    last = queues[SMALL][heads[SMALL]]
    heads[SMALL] += 1
    used[SMALL] -= sizes[last]
    if count[last] > 1:
        where[last], count[last] = MAIN, 0
        used[MAIN] += sizes[last]
        queues[MAIN].append(last)
        return
    where[last], entered[last] = GHOST, len(queues[GHOST])
    used[GHOST] += sizes[last]
    queues[GHOST].append(last)
    while used[GHOST] > remembered:
        gone = queues[GHOST][heads[GHOST]]
        if where[gone] == GHOST and entered[gone] == heads[GHOST]:
            where[gone] = NOWHERE
            used[GHOST] -= sizes[gone]
        heads[GHOST] += 1


@njit(cache=True)  # type: ignore[untyped-decorator, unused-ignore]
def _leave_main(where, count, used, queues, heads, sizes):  # type: ignore[no-untyped-def]
    """Give the oldest of the main queue another round if it was asked for, else let it go."""
    last = queues[MAIN][heads[MAIN]]
    heads[MAIN] += 1
    if count[last] > 0:
        count[last] -= 1
        queues[MAIN].append(last)
    else:
        where[last] = NOWHERE
        used[MAIN] -= sizes[last]
