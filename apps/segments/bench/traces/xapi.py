"""The REAL trace: xAPI video statements of MOOC viewers (potsie), each session of each day played as it was logged."""

from __future__ import annotations

import gzip
import json
from collections import defaultdict
from collections.abc import Iterator
from dataclasses import dataclass, replace
from datetime import datetime
from pathlib import Path
from typing import Any

import numpy as np

from apps.segments.bench.traces.playing import Played, Playing, trace_of
from apps.segments.core.catalogue import SEGMENT_S, Floats
from apps.segments.core.simulator.trace import Trace

EXTENSION = "https://w3id.org/xapi/video/extensions/"


@dataclass(frozen=True)
class Log:
    """What the statements tell: sessions in order of time, and each video's length in seconds."""

    playings: list[Playing]
    seconds: list[float]
    leads: Floats  # s between opening a page and playing, where the log tells both


def real(folder: Path) -> Trace:
    """Read the real trace from a folder of traces; raises FileNotFoundError when there is none."""
    log = plays(folder)
    lengths = np.array([max(1, int(np.ceil(seconds / SEGMENT_S))) for seconds in log.seconds], np.int64)
    return trace_of("real", 0, lengths, np.zeros(len(lengths)), log.playings, folder)


def plays(folder: Path) -> Log:
    """Read statements and rebuild the sessions: the longest list of played ranges, hung up on the events' clock.

    Statements of one session on different days are different sessions, since some days are copies of others.
    """
    groups: dict[tuple[str, str], list[dict[str, Any]]] = defaultdict(list)
    lengths: dict[str, float] = {}
    for statement in _statements(folder):
        values = {**statement["context"].get("extensions", {}), **statement.get("result", {}).get("extensions", {})}
        day = statement["@timestamp"][:10]
        groups[str(values.get(f"{EXTENSION}session-id")), day].append(statement)
        if f"{EXTENSION}length" in values:
            lengths[statement["object"]["id"]] = float(values[f"{EXTENSION}length"])
    videos = {name: place for place, name in enumerate(sorted(lengths))}
    viewers: dict[str, int] = {}
    found = [_session(group, videos, viewers) for group in groups.values()]
    seen = [lead for group in groups.values() if (lead := _lead(group)) is not None]
    playings = sorted((playing for playing in found if playing), key=lambda playing: playing.ranges[0].at)
    zero = playings[0].ranges[0].at // 86400 * 86400  # midnight
    moved = [
        Playing(
            one.viewer,
            one.video,
            one.opened_at - zero,
            [Played(played.at - zero, played.start, played.end) for played in one.ranges],
        )
        for one in playings
    ]
    return _with_leads(Log(moved, [lengths[name] for name in videos], np.array(seen or [0.0])))


def _statements(folder: Path) -> Iterator[dict[str, Any]]:
    paths = [*sorted((folder / "potsie_xapi").glob("*.jsonl*")), *sorted(folder.glob("*.jsonl*"))]
    if not paths:
        raise FileNotFoundError(f"No xAPI statements (*.jsonl, *.jsonl.gz) in {folder}.")
    opening: Any = gzip.open if paths[0].suffix == ".gz" else open
    with opening(paths[0], "rt") as lines:
        for line in lines:
            if line.strip():
                yield json.loads(line)


def _session(group: list[dict[str, Any]], videos: dict[str, int], viewers: dict[str, int]) -> Playing | None:
    group.sort(key=lambda statement: statement["@timestamp"])
    video = videos.get(group[0]["object"]["id"])
    listed, marks = "", []
    for statement in group:
        values = statement.get("result", {}).get("extensions", {})
        told = values.get(f"{EXTENSION}played-segments") or ""
        listed = told if len(told) >= len(listed) else listed
        position = values.get(f"{EXTENSION}time", values.get(f"{EXTENSION}time-from"))
        if position is not None:
            marks.append((_clock(statement), float(position)))
    ranges = _ranges(listed)
    if video is None or not ranges or not marks:
        return None
    viewer = viewers.setdefault(group[0]["actor"]["account"]["name"], len(viewers))
    played = _hung_up(ranges, marks)
    lead = _lead(group)
    return Playing(viewer, video, played[0].at - lead if lead is not None else np.nan, played)


def _lead(group: list[dict[str, Any]]) -> float | None:
    """Find the seconds from opening the page to playing, where both are logged and ten minutes apart at most."""
    opened = [_clock(one) for one in group if one["verb"]["id"].endswith("initialized")]
    playing = [
        _clock(one) - float(one.get("result", {}).get("extensions", {}).get(f"{EXTENSION}time", 0.0))
        for one in group
        if one["verb"]["id"].endswith("played")
    ]
    if not opened or not playing or not 0 <= min(playing) - opened[0] <= 600:
        return None
    return min(playing) - opened[0]


def _with_leads(log: Log) -> Log:
    """Draw the moment of opening, where the log does not tell it, from those that it tells."""
    rng = np.random.default_rng(0)
    playings = [
        one if np.isfinite(one.opened_at) else replace(one, opened_at=one.ranges[0].at - float(rng.choice(log.leads)))
        for one in log.playings
    ]
    return replace(log, playings=playings)


def _ranges(listed: str) -> list[tuple[float, float]]:
    """Read `0[.]54.887[,]54.982[.]145.2`; ranges that follow each other within a second are one."""
    found: list[tuple[float, float]] = []
    for part in listed.split("[,]"):
        start, _, end = part.partition("[.]")
        if not start or not end:
            continue
        first, last = float(start), float(end)
        if found and 0 <= first - found[-1][1] <= 1.0:
            found[-1] = (found[-1][0], max(last, found[-1][1]))
        elif last >= first:
            found.append((first, last))
    return found


def _hung_up(ranges: list[tuple[float, float]], marks: list[tuple[float, float]]) -> list[Played]:
    """Find when each range began: from an event inside it, but not before the one before it has ended."""
    played: list[Played] = []
    for start, end in ranges:
        inside = [at - (position - start) for at, position in marks if start <= position <= end]
        after = played[-1].at + played[-1].end - played[-1].start if played else -np.inf
        free = [at for at in inside if at >= after - 1.0]
        if free:
            played.append(Played(max(after, min(free)), start, end))
        else:
            played.append(Played(after if played else marks[0][0], start, end))
    return played


def _clock(statement: dict[str, Any]) -> float:
    return datetime.fromisoformat(statement["@timestamp"]).timestamp()
