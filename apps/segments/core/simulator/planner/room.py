"""Room at the edge: who leaves first, and who is let in."""

from __future__ import annotations

import heapq

import numpy as np
from numba import njit

from apps.segments.core.simulator.planner.state import FREE, INFLOW, INFLOW_AT, QUEUE_AT, TAU
from apps.segments.core.simulator.planner.worth import worth

INFLOW_S = 6 * 3600.0  # over which the turn-over is measured
NOBODY = np.inf


@njit(cache=True)  # type: ignore[untyped-decorator, unused-ignore]
def ranked(world, state, settings, now, most):  # type: ignore[no-untyped-def]
    """Value all that is there, and line up the `most` least valuable, the least first."""
    rows = np.flatnonzero(state.cached)
    scores = np.empty(len(rows))
    for place in range(len(rows)):
        scores[place] = worth(world, state, settings, rows[place], now)
    if len(rows) > 2 * most:
        low = scores <= np.partition(scores, most)[most]
        rows, scores = rows[low], scores[low]
    order = np.argsort(scores)
    queue = rows[order]
    for place in range(len(rows)):
        row = rows[place]
        state.score[row] = scores[place]
        state.stamp[row] += 1
        state.queued[row] = state.stamp[row]
    state.count[QUEUE_AT] = 0
    return queue


@njit(cache=True)  # type: ignore[untyped-decorator, unused-ignore]
def rank(state, heap, row, score):  # type: ignore[no-untyped-def]
    """Line up a row whose value has changed since the plan."""
    state.stamp[row] += 1
    state.score[row] = score
    heapq.heappush(heap, (score, row, state.stamp[row]))


@njit(cache=True)  # type: ignore[untyped-decorator, unused-ignore]
def _weakest(state, queue, heap):  # type: ignore[no-untyped-def]
    """Find who would leave next; -1 when nobody can. Void places are passed over."""
    while state.count[QUEUE_AT] < len(queue):
        row = queue[state.count[QUEUE_AT]]
        if state.cached[row] and state.stamp[row] == state.queued[row]:
            break
        state.count[QUEUE_AT] += 1
    while len(heap) > 0 and (not state.cached[heap[0][1]] or state.stamp[heap[0][1]] != heap[0][2]):
        heapq.heappop(heap)
    planned = state.score[queue[state.count[QUEUE_AT]]] if state.count[QUEUE_AT] < len(queue) else NOBODY
    changed = heap[0][0] if len(heap) > 0 else NOBODY
    if planned == NOBODY and changed == NOBODY:
        return -1
    return queue[state.count[QUEUE_AT]] if planned <= changed else heap[0][1]


@njit(cache=True)  # type: ignore[untyped-decorator, unused-ignore]
def make(world, state, settings, queue, heap, size, value, now):  # type: ignore[no-untyped-def]
    """Make room for `size` bytes from rows worth less than `value`; says whether there is room."""
    while state.number[FREE] < size:
        row = _weakest(state, queue, heap)
        if row < 0:
            return False
        fresh = worth(world, state, settings, row, now)
        if fresh > state.score[row] * 1.02 + 1e-12:
            rank(state, heap, row, fresh)
            continue
        if fresh >= value:
            return False
        state.cached[row] = False
        state.number[FREE] += world.sizes[row]
    return True


@njit(cache=True)  # type: ignore[untyped-decorator, unused-ignore]
def turned_over(state, settings, size, capacity, now):  # type: ignore[no-untyped-def]
    """Count bytes from the origin: the turn-over time is what the edge holds over what comes in."""
    faded = np.exp(-(now - state.number[INFLOW_AT]) / INFLOW_S)
    state.number[INFLOW] = state.number[INFLOW] * faded + size
    state.number[INFLOW_AT] = now
    rate = max(1.0, state.number[INFLOW] / INFLOW_S)
    state.number[TAU] = max(60.0, settings.tau_factor * capacity / rate)
