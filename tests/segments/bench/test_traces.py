from __future__ import annotations

import json
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from apps.segments.bench import traces
from apps.segments.bench.traces import Played, Playing, playing, xapi
from apps.segments.bench.traces.lectures import Courses

EXTENSION = xapi.EXTENSION
MORNING = datetime(2021, 12, 1, 9, 0, tzinfo=UTC).timestamp()


def statement(session: str, verb: str, at: float, viewer: str = "ann", **values: Any) -> dict[str, Any]:
    told = {f"{EXTENSION}{name.replace('_', '-')}": value for name, value in values.items()}
    return {
        "verb": {"id": f"https://w3id.org/xapi/video/verbs/{verb}"},
        "actor": {"account": {"name": viewer}},
        "object": {"id": "uuid://one"},
        "context": {"extensions": {f"{EXTENSION}session-id": session, f"{EXTENSION}length": 120}},
        "result": {"extensions": told},
        "@timestamp": datetime.fromtimestamp(MORNING + at, UTC).isoformat(),
    }


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    lines = []
    for number in range(30):
        name, begin = f"session {number}", 600.0 * number
        lines += [
            statement(name, "initialized", begin, f"viewer {number % 7}"),
            statement(name, "played", begin + 5, f"viewer {number % 7}", time=0.0),
            statement(
                name,
                "terminated",
                begin + 300,
                f"viewer {number % 7}",
                time=60.0,
                played_segments="0[.]30.5[,]30.9[.]48[,]12[.]60",
            ),
        ]
    (tmp_path / "potsie_xapi").mkdir()
    (tmp_path / "potsie_xapi" / "statements.jsonl").write_text("\n".join(map(json.dumps, lines)))
    return tmp_path


def test_played_ranges_become_six_second_segments(folder: Path) -> None:
    trace = traces.real(folder)
    first = trace.session == 0
    assert trace.catalogue.index[trace.row[first]].tolist() == [*range(8), *range(2, 10)]
    gaps = np.diff(trace.at[first])
    assert gaps[:7] == pytest.approx(6.0)
    assert trace.start.sum() == 30
    assert np.all(np.diff(trace.at) >= 0)
    assert trace.catalogue.lengths.tolist() == [20]
    assert trace.catalogue.renditions.tolist() == [3]


def test_the_moment_of_opening_comes_before_the_first_request(folder: Path) -> None:
    trace = traces.real(folder)
    led = trace.at[trace.start] - trace.sessions.opened_at[trace.session[trace.start]]
    assert led == pytest.approx(5.0)


def test_a_session_on_two_days_counts_as_two(folder: Path) -> None:
    path = folder / "potsie_xapi" / "statements.jsonl"
    again = statement("session 0", "terminated", 86_400, time=60.0, played_segments="0[.]60")
    path.write_text(path.read_text() + "\n" + json.dumps(again))
    assert len(traces.plays(folder).playings) == 31


def test_no_statements_is_said(tmp_path: Path) -> None:
    with pytest.raises(FileNotFoundError, match="xAPI"):
        traces.real(tmp_path)


@pytest.mark.parametrize(
    ("listed", "expected"),
    [
        ("", []),
        ("0[.]10", [(0, 10)]),
        ("0[.]10[,]10.5[.]20", [(0, 20)]),
        ("0[.]10[,]5[.]", [(0, 10)]),
        ("9[.]3", []),
    ],
)
def test_lists_of_ranges_are_read_as_far_as_they_make_sense(listed: str, expected: list[tuple[float, float]]) -> None:
    assert xapi._ranges(listed) == expected


def test_a_segment_in_the_buffer_is_not_asked_for_again() -> None:
    one = Playing(0, 0, 0.0, [Played(0.0, 0.0, 14.0), Played(100.0, 14.5, 25.0)])
    at, index = playing.requests(one, 10)
    assert index.tolist() == [0, 1, 2, 3, 4]
    assert at.tolist() == [0.0, 6.0, 12.0, 103.5, 109.5]


def test_who_plays_past_the_end_asks_for_the_last_segment() -> None:
    assert playing.requests(Playing(0, 0, 0.0, [Played(0.0, 50.0, 99.0)]), 10)[1].tolist() == [8, 9]


def test_a_seed_always_gives_the_same_lectures(folder: Path) -> None:
    small = Courses(courses=2, old_weeks=1, weeks=2, viewers=8)
    one, again, other = (traces.generated(folder, seed, small) for seed in (1, 1, 2))
    assert np.array_equal(one.row, again.row)
    assert np.array_equal(one.at, again.at)
    assert not np.array_equal(one.catalogue.lengths, other.catalogue.lengths)
    seconds = one.catalogue.lengths * 6
    assert seconds.min() >= 1800
    assert seconds.max() <= 5406


def test_nobody_watches_a_lecture_before_its_release(folder: Path) -> None:
    trace = traces.generated(folder, 3, Courses(courses=2, old_weeks=1, weeks=2, viewers=8))
    assert np.all(trace.at >= trace.release_at[trace.catalogue.video[trace.row]])
    assert len(set(trace.release_at.tolist())) == 6


def test_a_viewer_goes_up_only_when_it_is_comfortably_affordable() -> None:
    line = np.array([0.5e6, 1.1e6, 1.4e6, 3e6, 0.5e6])
    assert playing.renditions(line, np.arange(5.0), 0).tolist() == [0, 0, 1, 2, 0]
