"""Played ranges expanded to requests: 6-s segments in three renditions, chosen by real throughput."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

import numpy as np

from apps.segments.core.catalogue import SEGMENT_S, Catalogue, Floats, Ints
from apps.segments.core.simulator.trace import Sessions, Trace

BITRATES = np.array([0.35e6, 0.8e6, 1.6e6])  # bits/s of the three renditions
SAFETY = 0.8  # share of the throughput that a player dares to use
THROUGHPUT = "bandwidth_fcc_hsdpa"


@dataclass(frozen=True)
class Played:
    """One range played without a jump: wall clock at its beginning, and positions in seconds."""

    at: float
    start: float
    end: float


@dataclass(frozen=True)
class Playing:
    """One session: its ranges in order; `opened_at` is when the page opened, s before the first range's `at`."""

    viewer: int
    video: int
    opened_at: float
    ranges: list[Played]


def sizes_of(lengths: Ints, seed: int) -> Ints:
    """Draw sizes in bytes for rows in the catalogue's order: bit rate x 6 s, with the spread of variable bit rate."""
    rng = np.random.default_rng([seed, 1])
    parts = []
    for length in lengths:
        scene = np.exp(rng.normal(0, 0.25, int(length)))
        for rate in BITRATES:
            noise = np.exp(rng.normal(0, 0.08, int(length)))
            parts.append(rate * SEGMENT_S / 8 * scene * noise)
    return np.asarray(np.maximum(1000, np.concatenate(parts)), np.int64)


def throughput(folder: Path) -> list[Floats]:
    """Read throughput traces (lines of `seconds Mbps`), smoothed over a minute; bits/s each second."""
    found = []
    for path in sorted((folder / THROUGHPUT).rglob("*.log")):
        data = np.loadtxt(path, ndmin=2)
        clock = np.arange(0.0, float(data[-1, 0]))
        if len(clock) < 60:
            continue
        smooth = np.convolve(np.interp(clock, data[:, 0], data[:, 1]), np.full(60, 1 / 60), mode="valid")
        found.append(np.asarray(smooth * 1e6, np.float64))
    return found or [np.full(60, rate) for rate in (0.9e6, 1.4e6, 2.4e6)]


def renditions(line: Floats, seconds: Floats, offset: int) -> Ints:
    """Choose the rendition at each moment (s since the session began): up only when it is comfortably affordable."""
    speed = line[(seconds.astype(np.int64) + offset) % len(line)] * SAFETY
    lower = np.searchsorted(BITRATES, speed, side="right") - 1
    upper = np.searchsorted(BITRATES * 1.3, speed, side="right") - 1
    chosen = np.empty(len(seconds), np.int64)
    now = int(max(0, lower[0]))
    for place in range(len(seconds)):
        now = int(min(max(now, upper[place]), max(lower[place], 0)))
        chosen[place] = now
    return chosen


def trace_of(
    name: str, seed: int, lengths: Ints, release_at: Floats, playings: Sequence[Playing], folder: Path
) -> Trace:
    """Expand sessions to requests in order of time; lengths in segments."""
    catalogue = Catalogue(lengths, np.full(len(lengths), len(BITRATES)), sizes_of(lengths, seed))
    rng = np.random.default_rng([seed, 2])
    lines = throughput(folder)
    at, row, session, start, first = [], [], [], [], []
    for number, playing in enumerate(playings):
        moments, indices = requests(playing, int(lengths[playing.video]))
        line = lines[int(rng.integers(len(lines)))]
        rungs = renditions(line, moments - moments[0], int(rng.integers(len(line))))
        at.append(moments)
        row.append(catalogue.base[playing.video] + rungs * lengths[playing.video] + indices)
        session.append(np.full(len(moments), number))
        start.append(np.arange(len(moments)) == 0)
        first.append(int(rungs[0]))
    when = np.concatenate(at)
    order = np.argsort(when, kind="stable")
    sessions = Sessions(
        np.array([playing.viewer for playing in playings], np.int64),
        np.array([playing.video for playing in playings], np.int64),
        np.array(first, np.int64),
        np.array([playing.opened_at for playing in playings]),
    )
    columns = [np.concatenate(column)[order] for column in (row, session, start)]
    return Trace(name, seed, catalogue, sessions, release_at, when[order], *columns)


def requests(playing: Playing, length: int) -> tuple[Floats, Ints]:
    """List when a session asks for which segments; a segment that is in the player's buffer is not asked for again."""
    at: list[float] = []
    indices: list[int] = []
    for played in playing.ranges:
        first = min(length - 1, int(played.start // SEGMENT_S))
        last = min(length - 1, int(max(played.start, played.end - 0.05) // SEGMENT_S))
        for index in range(first, last + 1):
            if indices and index == indices[-1]:
                continue
            at.append(played.at + max(0.0, index * SEGMENT_S - played.start))
            indices.append(index)
    return np.array(at), np.array(indices, np.int64)
