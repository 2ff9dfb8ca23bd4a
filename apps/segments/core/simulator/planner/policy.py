"""The policy itself: serve, keep what will be wanted next, pin first segments, prewarm what is coming."""

from __future__ import annotations

import time

import numpy as np
from numba import njit

from apps.segments.core.simulator.knowledge import Knowledge
from apps.segments.core.simulator.outcome import Outcome
from apps.segments.core.simulator.planner.room import make, rank, ranked, turned_over
from apps.segments.core.simulator.planner.state import (
    PLANNED_AT,
    QUEUE_AT,
    SESSIONS,
    Settings,
    empty,
    world_of,
)
from apps.segments.core.simulator.planner.viewers import heard, survey
from apps.segments.core.simulator.planner.worth import PINNED, staying, worth
from apps.segments.core.simulator.trace import Trace


def run(trace: Trace, known: Knowledge, capacity: int, settings: Settings | None = None) -> Outcome:
    """Run the policy over a trace with an edge of `capacity` bytes."""
    world, state, chosen = world_of(trace, known), empty(trace, capacity), settings or Settings()
    begun = time.process_time()
    hit, waited, at, row, used = _run(world, state, chosen, capacity)
    return Outcome(hit, waited, at, row, used, time.process_time() - begun)


@njit(cache=True)  # type: ignore[untyped-decorator, unused-ignore]
def _run(world, state, settings, capacity):  # type: ignore[no-untyped-def]
    requests = len(world.row)
    hit, waited = np.zeros(requests, np.bool_), np.zeros(requests)
    log, used = [(0.0, 0)], [False]
    queue, heap = np.zeros(0, np.int64), [(0.0, 0, np.int64(0))]
    state.count[PLANNED_AT], opened = -requests, 0
    pause = settings.every
    for place in range(requests):
        now, row, session = world.at[place], world.row[place], world.session[place]
        while opened < len(world.opens) and world.opened_at[opened] <= now:
            if settings.intent:
                _intent(world, state, settings, queue, heap, log, used, capacity, opened)
            opened += 1
        since = place - state.count[PLANNED_AT]
        if since >= pause or (since > pause // 4 and state.count[QUEUE_AT] >= len(queue)):
            state.count[PLANNED_AT] = place
            survey(world, state, settings, now)
            _pin(world, state, settings, capacity)
            queue = ranked(world, state, settings, now, 4 * settings.every)
            pause = max(settings.every, int(state.cached.sum()) // 12)
            heap.clear()
        heard(world, state, session, row, now)
        if state.cached[row]:
            hit[place], waited[place] = True, now - state.since[row]
            if state.note[row] >= 0:
                used[state.note[row]] = True
        state.touched[row] = now
        _take(world, state, settings, queue, heap, row, 0.0, capacity, now)
        _ahead(world, state, settings, queue, heap, log, used, session, row, capacity, now)
    return hit, waited, np.array([one[0] for one in log])[1:], np.array([one[1] for one in log])[1:], np.array(used)[1:]


@njit(cache=True)  # type: ignore[untyped-decorator, unused-ignore]
def _take(world, state, settings, queue, heap, row, least, capacity, now):  # type: ignore[no-untyped-def]
    """Take a row in where it is worth more than what must leave, or rank it anew; says whether it is there."""
    value = max(least, worth(world, state, settings, row, now))
    if not state.cached[row]:
        size = world.sizes[row]
        turned_over(state, settings, size, capacity, now)
        floor = PINNED if settings.source else value
        if size > capacity or not make(world, state, settings, queue, heap, size, floor, now):
            return False
        state.cached[row], state.since[row], state.note[row] = True, now, -1
        state.number[3] -= size
    rank(state, heap, row, value)
    return True


@njit(cache=True)  # type: ignore[untyped-decorator, unused-ignore]
def _fetch(world, state, settings, queue, heap, log, used, row, chance, capacity, now):  # type: ignore[no-untyped-def]
    """Prewarm a row that will be wanted soon with this chance."""
    if not state.cached[row] and _take(world, state, settings, queue, heap, row, chance, capacity, now):
        state.note[row] = len(log)
        log.append((now, row))
        used.append(False)


@njit(cache=True)  # type: ignore[untyped-decorator, unused-ignore]
def _ahead(world, state, settings, queue, heap, log, used, session, row, capacity, now):  # type: ignore[no-untyped-def]
    """Path: while a viewer plays, fetch the next segment when it is likely enough."""
    following = world.following[row]
    if settings.ahead > 1.0 or following < 0 or state.cached[following]:
        return
    chance = staying(world, state, settings, session, following, now)
    if chance >= settings.ahead:
        _fetch(world, state, settings, queue, heap, log, used, following, chance, capacity, now)


@njit(cache=True)  # type: ignore[untyped-decorator, unused-ignore]
def _intent(world, state, settings, queue, heap, log, used, capacity, opened):  # type: ignore[no-untyped-def]
    """Intent: a page opens; fetch where its viewer will start, in every rendition."""
    session, now = world.opens[opened], world.opened_at[opened]
    video, index = world.watched[session], 0
    before = state.latest[world.viewer[session], video]
    if before >= 0 and world.resumes and world.index[state.at_row[before]] < 0.9 * world.lengths[video]:
        index = world.index[state.at_row[before]]
    for rendition in range(len(world.usual)):
        row = world.base[video] + rendition * world.lengths[video] + index
        chance = 0.9 * world.usual[rendition]
        state.hoped[row], state.hoped_until[row] = chance, now + settings.hold_s
        _fetch(world, state, settings, queue, heap, log, used, row, chance, capacity, now)


@njit(cache=True)  # type: ignore[untyped-decorator, unused-ignore]
def _pin(world, state, settings, capacity):  # type: ignore[no-untyped-def]
    """Placement: hold the first segments of the videos that start most, up to the pins' share of the edge."""
    state.pinned[:] = False
    if state.count[SESSIONS] == 0:
        return
    room = settings.pin_share * capacity
    rate = np.zeros(len(world.lengths))
    for video in range(len(rate)):
        rate[video] = state.arriving[world.place[video]]
    for video in np.argsort(-rate):
        for rendition in range(len(world.usual)):
            row = world.base[video] + rendition * world.lengths[video]
            if world.sizes[row] <= room:
                room -= world.sizes[row]
                state.pinned[row] = True
