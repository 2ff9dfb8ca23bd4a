"""What the simulated planner knows and holds, as tuples of arrays that compiled code can read."""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np

from apps.segments.core.simulator.knowledge import Knowledge, following
from apps.segments.core.simulator.trace import Trace

MOST_VIEWERS = 64  # viewers of one video that count; beyond, the longest idle is left out
SPANS = np.array([3600.0, 8 * 3600.0, 3 * 86400.0])  # s, over which starts are averaged
TAU, INFLOW, INFLOW_AT, FREE = 0, 1, 2, 3  # places in State.number
QUEUE_AT, FIRST_STOP, SESSIONS, PLANNED_AT = 0, 1, 2, 3  # places in State.count


class Settings(NamedTuple):
    """How the policy decides.

    `source`: WorldCache's own score instead of the expected next access. `pin_share` of the edge may hold first
    segments. `ahead`: the next segment is prewarmed when its chance is at least this; above 1 never. `intent`: prewarm
    when a page opens, and hold that for `hold_s` s. `every`: requests between plans, or more where more is cached.
    `tau_factor`: the discount's time over the turn-over time; `weights` of the start rates over an hour, eight hours,
    three days.
    """

    source: bool = False
    pin_share: float = 0.05
    ahead: float = 0.95
    intent: bool = True
    hold_s: float = 900.0
    every: int = 200
    tau_factor: float = 1.0
    patience_s: float = 120.0
    weights: tuple[float, float, float] = (0.1, 0.5, 0.4)


class World(NamedTuple):
    """What does not change: the trace, the catalogue and the knowledge."""

    at: Any
    row: Any
    session: Any
    opens: Any  # sessions in the order in which their pages open
    opened_at: Any
    viewer: Any
    watched: Any  # the video of each session
    video: Any
    index: Any
    rendition: Any
    sizes: Any
    following: Any
    lengths: Any
    base: Any
    place: Any
    survival: Any
    use: Any
    mixing: Any
    usual: Any
    returning: Any
    chain: Any
    resumes: bool


class State(NamedTuple):
    """What changes: one number a row, session, video or segment."""

    cached: Any
    pinned: Any
    score: Any
    stamp: Any  # raised whenever a row's score changes, so that older places in the queues are void
    queued: Any  # the stamp with which a row stands in the plan's queue
    since: Any  # when it was asked from the origin
    touched: Any  # when it was last asked for
    note: Any  # its place in the log of prewarmed segments, or -1
    at_row: Any  # each session's last request, or -1
    at_time: Any
    replaced: Any  # a later session of the same viewer and video has begun
    latest: Any  # viewer x video: the latest session, or -1
    begun: Any  # sessions in the order of their first requests
    audience: Any  # video x MOST_VIEWERS: sessions watching, by segment
    watching: Any  # how many
    starts: Any  # video x SPANS: discounted counts of starts
    started_at: Any
    hoped: Any  # for each row, the chance that somebody who opened a page begins with it
    hoped_until: Any
    arriving: Any  # one number a segment: arrivals a second of those who are not watching now
    discount: Any  # exp(-6 s x segments / tau)
    chained: Any  # one number a video: expected viewers who will follow on from another one
    number: Any
    count: Any


def world_of(trace: Trace, known: Knowledge) -> World:
    """Lay out a trace and what is known."""
    catalogue, sessions = trace.catalogue, trace.sessions
    opens = np.argsort(sessions.opened_at, kind="stable")
    return World(
        *(trace.at, trace.row, trace.session, opens, sessions.opened_at[opens], sessions.viewer, sessions.video),
        *(catalogue.video, catalogue.index, catalogue.rendition, catalogue.sizes, following(catalogue)),
        *(catalogue.lengths, catalogue.base, catalogue.place, known.survival, known.use, known.mixing, known.usual),
        *(known.returning, known.chain, known.resumes),
    )


def empty(trace: Trace, capacity: int) -> State:
    """Start with an empty edge."""
    catalogue = trace.catalogue
    rows, videos, sessions = len(catalogue.sizes), len(catalogue.lengths), len(trace.sessions.viewer)
    viewers, begin = int(trace.sessions.viewer.max()) + 1, float(trace.at[0])
    never, none = np.full(rows, -np.inf), np.full(rows, -1)
    return State(
        *(np.zeros(rows, np.bool_), np.zeros(rows, np.bool_), np.zeros(rows), np.zeros(rows, np.int64), none.copy()),
        *(never.copy(), never.copy(), none.copy(), np.full(sessions, -1), np.zeros(sessions)),
        *(np.zeros(sessions, np.bool_), np.full((viewers, videos), -1), np.zeros(sessions, np.int64)),
        *(np.zeros((videos, MOST_VIEWERS), np.int64), np.zeros(videos, np.int64), np.zeros((videos, len(SPANS)))),
        *(
            np.full(videos, begin),
            np.zeros(rows),
            never.copy(),
            np.zeros(int(catalogue.place[-1])),
            np.ones(int(catalogue.lengths.max()) + 1),
        ),
        *(np.zeros(videos), np.array([3600.0, 0.0, begin, float(capacity)]), np.zeros(4, np.int64)),
    )
