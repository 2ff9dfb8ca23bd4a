from __future__ import annotations

import os
import sys
from collections.abc import Callable
from pathlib import Path

import numpy as np
import pytest

from apps.segments.bench import peer, planning, prediction, running
from apps.segments.core import simulator
from apps.segments.core.simulator import Trace
from config import reports

FIELDS = [
    "trace",
    "seed",
    "cache_share",
    "policy",
    "byte_hit",
    "request_hit",
    "origin_bytes",
    "demand_bytes",
    "prewarm_bytes",
    "waste_share",
    "gap_closed",
    "start_hit",
    "start_p50_s",
    "start_p95_s",
    "origin",
    "daily_peak_bps",
    "requests_per_s",
]


@pytest.fixture
def rows(world: Callable[..., Trace]) -> list[running.Row]:
    trace = world(sessions=600)
    known = simulator.learn(trace, simulator.middle(trace))
    return list(running.rows(trace, known, 0.1, peers=False, say=lambda line: None))


def test_rows_have_the_fields_of_the_measuring_page(rows: list[running.Row]) -> None:
    assert all(sorted(row) == sorted(FIELDS) for row in rows)
    assert len(rows) == 2 * len(simulator.NAMES)


def test_the_gap_is_measured_between_lru_and_belady(rows: list[running.Row]) -> None:
    gap = {row["policy"]: row["gap_closed"] for row in rows}
    assert (gap["lru"], gap["belady"]) == (0.0, 1.0)
    assert gap["touchstone_keep"] > 0


def test_only_the_start_up_depends_on_the_origin(rows: list[running.Row]) -> None:
    for fast, slow in zip(rows[::2], rows[1::2], strict=True):
        assert (fast["origin"], slow["origin"]) == ("fast", "slow")
        assert fast["start_p95_s"] <= slow["start_p95_s"]
        apart = {name for name in FIELDS if fast[name] != slow[name]}
        assert apart <= {"origin", "start_hit", "start_p50_s", "start_p95_s"}


def test_the_report_draws_every_policy(rows: list[running.Row], tmp_path: Path) -> None:
    page = reports.page(reports.document("manage.py bench segments", rows, tmp_path))
    assert page.count("<polyline") >= 3 * len(simulator.NAMES)
    assert "http" not in page


def test_the_tuning_seed_is_never_reported() -> None:
    assert running.TUNING_SEED not in running.SEEDS


def test_predictors_are_compared_on_held_out_viewers(world: Callable[..., Trace]) -> None:
    told = list(prediction.lines(world(sessions=400)))
    assert [line.split(",")[1].split(":")[0].strip() for line in told] == ["retention", "markov", "transformer"]
    assert "serves: False" in told[0]


def test_a_plan_is_timed_on_an_edge_of_any_size(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(planning, "ROWS", 4_000)
    monkeypatch.setattr(planning, "VIEWERS", 50)
    assert planning.line().startswith("plan for 4,000 segments and 50 viewers: median ")


def stand_in(home: Path, program: str, monkeypatch: pytest.MonkeyPatch) -> None:
    """Let another program stand where libcachesim's environment would be."""
    (home / "bin").mkdir(parents=True)
    os.symlink(sys.executable, home / "bin" / "python")
    (home / "ready").write_text(peer.PACKAGE)
    (home / "program.py").write_text(program)
    monkeypatch.setattr(peer, "HOME", home)
    monkeypatch.setattr(peer, "PROGRAM", home / "program.py")


@pytest.mark.parametrize(
    ("program", "told"), [("import time; time.sleep(60)", "took more"), ("raise ValueError('no')", "broke")]
)
def test_a_peer_that_hangs_or_breaks_is_left_out(
    world: Callable[..., Trace], tmp_path: Path, monkeypatch: pytest.MonkeyPatch, program: str, told: str
) -> None:
    stand_in(tmp_path / "home", program, monkeypatch)
    monkeypatch.setattr(peer, "TIMEOUT_S", 2.0)
    said: list[str] = []
    assert peer.run("LRU", world(sessions=20), 1000, said.append) is None
    assert told in said[-1]
    assert not list(tmp_path.glob("peer-*"))


def test_our_lru_hits_as_often_as_libcachesims(world: Callable[..., Trace]) -> None:
    ready = peer.HOME / "ready"
    if not ready.exists() or ready.read_text() != peer.PACKAGE:
        pytest.skip("libcachesim is installed by `manage.py bench segments`")
    trace = world(sessions=600)
    for share in (0.05, 0.2, 0.5):
        capacity = int(trace.footprint * share)
        theirs = peer.run("LRU", trace, capacity, lambda line: None)
        assert theirs is not None
        ours = simulator.run("lru", trace, capacity, simulator.learn(trace, simulator.middle(trace)))
        assert float(ours.hit.mean()) == pytest.approx(float(theirs.hit.mean()), abs=5e-4)
        assert np.array_equal(ours.hit, theirs.hit)
