"""Who is watching, who stopped and may come back, who will go on to the next video."""

from __future__ import annotations

import numpy as np
from numba import njit

from apps.segments.core.simulator.knowledge import AGES, EARLY, FINISHED
from apps.segments.core.simulator.planner.state import FIRST_STOP, MOST_VIEWERS, SESSIONS, SPANS, TAU

GIVEN_UP_S = 1800.0  # who was silent for so long is no longer watching
STOPPED_S = 120.0
CHAINING_S = 1200.0  # the time constant of going on to another video after the end


@njit(cache=True)  # type: ignore[untyped-decorator, unused-ignore]
def heard(world, state, session, row, now):  # type: ignore[no-untyped-def]
    """Note a request: where its session is now."""
    video = world.video[row]
    if state.at_row[session] < 0:
        _begin(world, state, session, row, now)
    state.at_row[session], state.at_time[session] = row, now
    place = -1
    for other in range(state.watching[video]):
        if state.audience[video, other] == session:
            place = other
    if place < 0:
        place = _join(state, video, session)
    index, line = world.index[row], state.audience[video]
    while place + 1 < state.watching[video] and world.index[state.at_row[line[place + 1]]] < index:
        line[place], line[place + 1] = line[place + 1], line[place]
        place += 1
    while place > 0 and world.index[state.at_row[line[place - 1]]] > index:
        line[place], line[place - 1] = line[place - 1], line[place]
        place -= 1


@njit(cache=True)  # type: ignore[untyped-decorator, unused-ignore]
def _begin(world, state, session, row, now):  # type: ignore[no-untyped-def]
    video, viewer = world.video[row], world.viewer[session]
    before = state.latest[viewer, video]
    if before >= 0:
        state.replaced[before] = True
    state.latest[viewer, video] = session
    state.begun[state.count[SESSIONS]] = session
    state.count[SESSIONS] += 1
    if world.index[row] < EARLY or not world.resumes:
        state.starts[video] *= np.exp(-(now - state.started_at[video]) / SPANS)
        state.starts[video] += 1.0
        state.started_at[video] = now


@njit(cache=True)  # type: ignore[untyped-decorator, unused-ignore]
def _join(state, video, session):  # type: ignore[no-untyped-def]
    """Add a session to a video's audience; in a full one it takes the place of the longest idle."""
    count, line = state.watching[video], state.audience[video]
    if count == MOST_VIEWERS:
        longest = 0
        for place in range(count):
            if state.at_time[line[place]] < state.at_time[line[longest]]:
                longest = place
        for place in range(longest, count - 1):
            line[place] = line[place + 1]
        count -= 1
    line[count] = session
    state.watching[video] = count + 1
    return count


@njit(cache=True)  # type: ignore[untyped-decorator, unused-ignore]
def survey(world, state, settings, now):  # type: ignore[no-untyped-def]
    """Bring up to date what changes slowly: audiences, expected arrivals, discounts."""
    for distance in range(len(state.discount)):
        state.discount[distance] = np.exp(-6.0 * distance / state.number[TAU])
    for video in range(len(world.lengths)):
        count = 0
        for place in range(state.watching[video]):
            session = state.audience[video, place]
            if now - state.at_time[session] <= GIVEN_UP_S:
                state.audience[video, count] = session
                count += 1
        state.watching[video] = count
    state.arriving[:] = 0.0
    state.chained[:] = 0.0
    _stopped(world, state, now)
    _arrivals(world, state, settings, now)


@njit(cache=True)  # type: ignore[untyped-decorator, unused-ignore]
def _stopped(world, state, now):  # type: ignore[no-untyped-def]
    """Let sessions that ended come back to where they stopped, or go on to another video."""
    place, total = state.count[FIRST_STOP], state.count[SESSIONS]
    while place < total and now - state.at_time[state.begun[place]] > AGES[-1]:
        place += 1
    state.count[FIRST_STOP] = place
    for number in range(place, total):
        session = state.begun[number]
        age, row = now - state.at_time[session], state.at_row[session]
        video, index = world.video[row], world.index[row]
        end = int(FINISHED * world.lengths[video]) - 1
        if age < 3600.0 and (index >= end or age < STOPPED_S):
            first = world.place[video]
            chance = min(1.0, world.survival[first + max(0, end)] / world.survival[first + index])
            state.chained[:] += world.chain[video] * chance * np.exp(-age / CHAINING_S)
        if STOPPED_S <= age < AGES[-1] and not state.replaced[session] and index < 0.9 * world.lengths[video]:
            span = 0
            while age >= AGES[span + 1]:
                span += 1
            state.arriving[world.place[video] + index] += world.returning[span]


@njit(cache=True)  # type: ignore[untyped-decorator, unused-ignore]
def _arrivals(world, state, settings, now):  # type: ignore[no-untyped-def]
    """Carry those who come back on through their video, and add those who start it."""
    for video in range(len(world.lengths)):
        rate = 0.0
        for span in range(len(SPANS)):
            faded = np.exp(-(now - state.started_at[video]) / SPANS[span]) / SPANS[span]
            rate += settings.weights[span] * state.starts[video, span] * faded
        first, back = world.place[video], 0.0
        for index in range(world.lengths[video]):
            segment = first + index
            if index and back > 0.0:
                back *= world.survival[segment] / world.survival[segment - 1]
            back += state.arriving[segment]
            state.arriving[segment] = back + rate * world.use[segment] + 1e-9
