"""What a row is worth now: its expected discounted next access, or WorldCache's own score."""

from __future__ import annotations

import numpy as np
from numba import njit

from apps.segments.core.simulator.planner.state import TAU

SEGMENT_S, PLAYING_S = 6.0, 8.0  # a viewer is idle when a request is later than this
CHAIN_LAG_S = 900.0  # until a viewer who goes on to the next video starts it
WINDOW = 20  # segments within the prediction window of 120 s
PINNED = 10.0  # above every value


@njit(cache=True)  # type: ignore[untyped-decorator, unused-ignore]
def worth(world, state, settings, row, now):  # type: ignore[no-untyped-def]
    """Value a row at a moment."""
    if state.pinned[row]:
        return PINNED
    if settings.source:
        return source(world, state, settings, row, now)
    video, index, rendition = world.video[row], world.index[row], world.rendition[row]
    segment, tau = world.place[video] + index, state.number[TAU]
    reach, left, value = world.survival[segment], 1.0, 0.0
    if state.hoped_until[row] > now:
        left, value = 1.0 - state.hoped[row], state.hoped[row]
    for place in range(state.watching[video] - 1, -1, -1):
        session = state.audience[video, place]
        there = world.index[state.at_row[session]]
        if there >= index:
            continue
        stays = staying(world, state, settings, session, row, now)
        value += left * stays * state.discount[index - there - 1]
        left *= 1.0 - stays
        if left < 1e-3:
            return value
    chained = min(0.9, state.chained[video]) * reach * world.usual[rendition]
    value += left * chained * np.exp(-CHAIN_LAG_S / tau) * state.discount[index]
    arrivals = state.arriving[segment] * world.usual[rendition]
    return value + left * (1.0 - chained) * state.discount[index] * arrivals / (arrivals + 1.0 / tau)


@njit(cache=True)  # type: ignore[untyped-decorator, unused-ignore]
def staying(world, state, settings, session, row, now):  # type: ignore[no-untyped-def]
    """Give the chance that a session reaches a row farther on in its video, in the row's rendition."""
    here = state.at_row[session]
    first = world.place[world.video[row]]
    far = world.index[row] - world.index[here]
    chance = world.survival[first + world.index[row]] / world.survival[first + world.index[here]]
    chance *= world.mixing[far, world.rendition[here], world.rendition[row]]
    idle = now - state.at_time[session]
    return chance * np.exp(-(idle - PLAYING_S) / settings.patience_s) if idle > PLAYING_S else chance


@njit(cache=True)  # type: ignore[untyped-decorator, unused-ignore]
def source(world, state, settings, row, now):  # type: ignore[no-untyped-def]
    """Score as WorldCache prints it: probability in the window x size / sqrt(age)."""
    video, index = world.video[row], world.index[row]
    left = 1.0
    for place in range(state.watching[video]):
        session = state.audience[video, place]
        far = index - world.index[state.at_row[session]]
        if 0 < far <= WINDOW:
            left *= 1.0 - staying(world, state, settings, session, row, now)
    arrivals = state.arriving[world.place[video] + index] * world.usual[world.rendition[row]]
    chance = 1.0 - left * np.exp(-arrivals * WINDOW * SEGMENT_S)
    age = max(1.0, now - state.touched[row])
    return max(chance, 1e-6) * world.sizes[row] / np.sqrt(age) * 1e-9
