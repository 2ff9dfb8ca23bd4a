"""GENERATED traces: weekly lectures of 30 to 90 minutes, watched the way the real trace's viewers watch.

Taken from the real trace: the played parts of each session (as shares of the video) with its pauses, the hours of the
day, the time between opening the page and playing. Assumed: courses release two lectures a week at a known hour, a
viewer comes to most of them within days, half go on to the next lecture of the release in the same sitting, many who
stop early come back later to where they stopped, and a few revise older lectures.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from pathlib import Path

import numpy as np

from apps.segments.bench.traces import xapi
from apps.segments.bench.traces.playing import Played, Playing, trace_of
from apps.segments.core.catalogue import SEGMENT_S, Floats, Ints
from apps.segments.core.simulator.trace import Trace

DAY, WEEK = 86400.0, 7 * 86400.0


@dataclass(frozen=True)
class Courses:
    """How big the generated world is, and how its viewers are; shares and rates from 0 to 1."""

    courses: int = 5
    a_week: int = 2
    old_weeks: int = 4
    weeks: int = 4
    viewers: float = 80.0
    comes: float = 0.6
    goes_on: float = 0.45
    resumes: float = 0.5
    revises: float = 0.15


@dataclass(frozen=True)
class Behaviour:
    """What is drawn from the real trace."""

    sessions: list[list[tuple[float, float, float]]]  # (start share, end share, pause before in s)
    hours: Floats
    leads: Floats


def generated(folder: Path, seed: int, courses: Courses | None = None) -> Trace:
    """Generate a trace; the same seed gives the same trace."""
    world = _World(courses or Courses(), behaviour(folder), np.random.default_rng([seed, 7]))
    world.fill()
    playings = sorted(world.playings, key=lambda playing: playing.ranges[0].at)
    end = world.courses.weeks * WEEK
    kept = [playing for playing in playings if playing.ranges[0].at < end]
    return trace_of("generated", seed, world.lengths, world.release_at, kept, folder)


def behaviour(folder: Path) -> Behaviour:
    """Learn from the real trace how viewers watch."""
    log = xapi.plays(folder)
    sessions, hours = [], np.ones(24)
    for playing in log.playings:
        parts, clock = [], playing.ranges[0].at
        for played in playing.ranges:
            seconds = log.seconds[playing.video]
            pause = min(1800.0, max(0.0, played.at - clock))
            parts.append((played.start / seconds, played.end / seconds, pause))
            clock = played.at + played.end - played.start
        sessions.append(parts)
        hours[int(playing.opened_at % DAY // 3600)] += 1
    return Behaviour(sessions, hours / hours.sum(), log.leads)


class _World:
    """Courses being watched."""

    def __init__(self, courses: Courses, behaviour: Behaviour, rng: np.random.Generator) -> None:
        self.courses, self.behaviour, self.rng = courses, behaviour, rng
        self.playings: list[Playing] = []
        self.weeks = courses.old_weeks + courses.weeks
        self.crowds = np.maximum(5, rng.lognormal(np.log(courses.viewers), 0.5, courses.courses)).astype(int)
        self.hour = rng.uniform(7, 12, courses.courses) * 3600

    @cached_property
    def lengths(self) -> Ints:
        count = self.courses.courses * self.weeks * self.courses.a_week
        return np.ceil(self.rng.uniform(1800, 5400, count) / SEGMENT_S).astype(np.int64)

    @cached_property
    def release_at(self) -> Floats:
        """Give the moment of each video's release, in s; those of the weeks before are negative."""
        course, week, _ = np.unravel_index(np.arange(len(self.lengths)), self._shape)
        return np.asarray((week - self.courses.old_weeks) * WEEK + (course % 5) * DAY + self.hour[course], np.float64)

    @property
    def _shape(self) -> tuple[int, int, int]:
        return self.courses.courses, self.weeks, self.courses.a_week

    def fill(self) -> None:
        """Let every viewer of every course come to the releases, and revise."""
        for course in range(self.courses.courses):
            first_viewer = int(self.crowds[:course].sum())
            for viewer in range(first_viewer, first_viewer + int(self.crowds[course])):
                keen = self.rng.beta(2 * self.courses.comes, 2 * (1 - self.courses.comes))
                for week in range(self.weeks):
                    if self.rng.random() < keen:
                        self._sitting(viewer, course, week)
                    if week > 1 and self.rng.random() < self.courses.revises:
                        self._revise(viewer, course, week)

    def _sitting(self, viewer: int, course: int, week: int) -> None:
        videos = np.ravel_multi_index(
            ([course] * self._shape[2], [week] * self._shape[2], range(self._shape[2])), self._shape
        )
        at = self._arrival(float(self.release_at[videos[0]]))
        for place, video in enumerate(videos):
            end, reached = self._watch(viewer, int(video), at, 0.0)
            goes_on = reached > 0.8 and self.rng.random() < self.courses.goes_on / 0.7
            if place + 1 < len(videos):
                at = (
                    end + float(self.rng.lognormal(np.log(120), 1.0))
                    if goes_on
                    else self._evening(at + DAY * self.rng.exponential(1.0))
                )

    def _revise(self, viewer: int, course: int, week: int) -> None:
        older = int(max(0, week - 1 - self.rng.geometric(0.5)))
        video = int(np.ravel_multi_index((course, older, int(self.rng.integers(self._shape[2]))), self._shape))
        at = (week - self.courses.old_weeks) * WEEK + float(self.rng.uniform(0, WEEK))
        self._watch(viewer, video, self._evening(at), 0.0)

    def _watch(self, viewer: int, video: int, at: float, begin: float) -> tuple[float, float]:
        """Play a real session's parts from a share of the video on; gives when it ended and how far it got."""
        parts = self.behaviour.sessions[int(self.rng.integers(len(self.behaviour.sessions)))]
        seconds, clock, ranges = float(self.lengths[video] * SEGMENT_S), at, []
        for start, end, pause in parts:
            first, last = (seconds * (begin + share * (1 - begin)) for share in (start, min(1.0, end)))
            clock += pause
            ranges.append(Played(clock, first, last))
            clock += last - first
        if at > 0:
            lead = float(self.rng.choice(self.behaviour.leads))
            self.playings.append(Playing(viewer, video, at - lead, ranges))
        reached = ranges[-1].end / seconds
        if reached < 0.9 and self.rng.random() < self.courses.resumes:
            later = self._evening(clock + float(self.rng.lognormal(np.log(8 * 3600), 1.2)))
            self._watch(viewer, video, later, reached)
        return clock, reached

    def _arrival(self, released: float) -> float:
        """Draw when a viewer comes to a release: a third within hours, the others within days."""
        if self.rng.random() < 0.35:
            return released + float(self.rng.exponential(0.2)) * DAY
        return self._evening(released + float(self.rng.exponential(2.5)) * DAY)

    def _evening(self, at: float) -> float:
        """Move a moment to an hour that the real viewers like, not before it."""
        hour = int(self.rng.choice(24, p=self.behaviour.hours))
        moved = at // DAY * DAY + (hour + float(self.rng.random())) * 3600
        return moved if moved >= at else moved + DAY
