"""Least recently used, alone or with the next segments fetched at each request."""

from __future__ import annotations

import numpy as np
from numba import njit


@njit(cache=True)  # type: ignore[untyped-decorator, unused-ignore]
def run(at, row, sizes, following, capacity, ahead):  # type: ignore[no-untyped-def]
    """Serve requests; fetch `ahead` segments after each (0 for plain LRU); returns the columns of an Outcome."""
    rows = len(sizes)
    older, newer = np.full(rows + 1, rows), np.full(rows + 1, rows)  # a ring through `rows`, the newest after it
    inside, fresh = np.zeros(rows, np.bool_), np.full(rows, -1)
    since = np.full(rows, -np.inf)
    hit, waited = np.zeros(len(row), np.bool_), np.zeros(len(row))
    fetched_at, fetched, used = [0.0], [0], [False]
    free = capacity
    for place in range(len(row)):
        wanted = row[place]
        for step in range(ahead + 1):
            if wanted < 0:
                break
            there = inside[wanted]
            if step == 0:
                hit[place] = there
                waited[place] = at[place] - since[wanted] if there else 0.0
                if there and fresh[wanted] >= 0:
                    used[fresh[wanted]] = True
            if there:
                older[newer[wanted]], newer[older[wanted]] = older[wanted], newer[wanted]
            elif sizes[wanted] <= capacity:
                free -= sizes[wanted]
                while free < 0:
                    last = newer[rows]  # the oldest
                    older[newer[last]], newer[older[last]] = older[last], newer[last]
                    inside[last] = False
                    free += sizes[last]
                inside[wanted], since[wanted], fresh[wanted] = True, at[place], -1
                if step > 0:
                    fresh[wanted] = len(fetched)
                    fetched_at.append(at[place])
                    fetched.append(wanted)
                    used.append(False)
            if inside[wanted]:
                newer[wanted], older[wanted] = rows, older[rows]
                newer[older[rows]], older[rows] = wanted, wanted
            wanted = following[wanted]
    return hit, waited, np.array(fetched_at)[1:], np.array(fetched)[1:], np.array(used)[1:]
