"""W-TinyLFU (Einziger et al., 2017): a window, a segmented LRU behind it, and a duel of frequencies between them.

Frequencies are exact counts, halved now and then, where the original keeps a sketch.
"""

from __future__ import annotations

import numpy as np
from numba import njit

WINDOW_SHARE, PROTECTED_SHARE = 0.01, 0.8
WINDOW, PROBATION, PROTECTED = 0, 1, 2


@njit(cache=True)  # type: ignore[untyped-decorator, unused-ignore]
def run(row, sizes, capacity):  # type: ignore[no-untyped-def]
    """Serve requests; returns which were hits."""
    rows, seen = len(sizes), 0
    rings = np.arange(2 * (rows + 3)).reshape(2, rows + 3) % (rows + 3)  # older and newer of each, after rows a head
    where, count, used = np.full(rows, -1, np.int8), np.zeros(rows, np.int32), np.zeros(3, np.int64)
    main = np.int64((1 - WINDOW_SHARE) * capacity)
    period = 10 * max(1, int(capacity / max(1.0, sizes.mean())))
    hit = np.zeros(len(row), np.bool_)
    for place in range(len(row)):
        wanted = row[place]
        count[wanted] += 1
        seen += 1
        if seen >= period:
            count >>= 1
            seen //= 2
        if where[wanted] >= 0:
            hit[place] = True
            goal = WINDOW if where[wanted] == WINDOW else PROTECTED
            _take(rings, where, used, sizes, wanted)
            _put(rings, where, used, sizes, wanted, goal)
            while used[PROTECTED] > main * PROTECTED_SHARE:
                last = _take(rings, where, used, sizes, rings[1, rows + PROTECTED])
                _put(rings, where, used, sizes, last, PROBATION)
        elif sizes[wanted] <= main:
            _put(rings, where, used, sizes, wanted, WINDOW)
            while used[WINDOW] > capacity - main:
                comer = _take(rings, where, used, sizes, rings[1, rows + WINDOW])
                if _wins(rings, where, count, used, sizes, comer, main):
                    _put(rings, where, used, sizes, comer, PROBATION)
    return hit


@njit(cache=True)  # type: ignore[untyped-decorator, unused-ignore]
def _take(rings, where, used, sizes, row):  # type: ignore[no-untyped-def]
    rings[0, rings[1, row]], rings[1, rings[0, row]] = rings[0, row], rings[1, row]
    used[where[row]] -= sizes[row]
    where[row] = -1
    return row


@njit(cache=True)  # type: ignore[untyped-decorator, unused-ignore]
def _put(rings, where, used, sizes, row, ring):  # type: ignore[no-untyped-def]
    head = len(sizes) + ring
    rings[1, row], rings[0, row] = head, rings[0, head]
    rings[1, rings[0, head]] = row
    rings[0, head] = row
    where[row] = ring
    used[ring] += sizes[row]


@njit(cache=True)  # type: ignore[untyped-decorator, unused-ignore]
def _wins(rings, where, count, used, sizes, comer, main):  # type: ignore[no-untyped-def]
    """Let a newcomer fight for its place with the oldest on probation; losers leave."""
    while used[PROBATION] + used[PROTECTED] + sizes[comer] > main:
        ring = PROBATION if used[PROBATION] > 0 else PROTECTED
        last = rings[1, len(sizes) + ring]
        if count[comer] <= count[last]:
            return False
        _take(rings, where, used, sizes, last)
    return True
