"""The edge's benchmark on a small world: the simulator against plain LRU, the planner, and a replay on a real nginx."""

from __future__ import annotations

import numpy as np
import pytest

from apps.segments.core.catalogue import Catalogue
from apps.segments.core.predictor.views import View
from config.edge.bench import running
from config.edge.bench.planner import Planner, Simulated
from config.edge.bench.world import World, path_of, row_of
from workers.edge.ghost import Ghost


@pytest.fixture
def world() -> World:
    """Viewers of ten videos, the first of which are watched by most; every segment has 40,000 bytes."""
    rng = np.random.default_rng(5)
    lengths = np.full(10, 20, np.int64)
    catalogue = Catalogue(lengths, np.ones(10, np.int64), np.full(200, 40_000, np.int64))
    rows, sessions, starts, at = [], [], [], []
    for session in range(60):
        video = int(min(9, rng.exponential(2.5)))
        for index in range(int(rng.integers(5, 20))):
            rows.append(video * 20 + index)
            sessions.append(session)
            starts.append(index == 0)
            at.append(session * 40.0 + index * 6)
    order = np.argsort(at, kind="stable")
    columns = [np.array(column)[order] for column in (at, rows, sessions, starts)]
    return World("test", 0, 0.3, catalogue, *columns, [View("", 0, 20, np.arange(15)) for _ in range(40)])


def test_without_plans_the_simulator_is_lru(world: World) -> None:
    ghost, hits = Ghost(world.capacity), 0
    for place, row in enumerate(world.row.tolist()):
        hits += ghost.ask(str(row), 40_000, float(place)) and place >= world.warm
    found = Simulated(world, None, 10).run()
    assert found["hits"] == hits
    assert found["hit_bytes"] + found["origin_bytes"] == world.demand_bytes


def test_plans_prewarm_what_viewers_go_on_to(world: World) -> None:
    plain, planned = Simulated(world, None, 5).run(), Simulated(world, Planner(world), 5).run()
    assert planned["prewarm_bytes"] > 0
    assert planned["hits"] > plain["hits"]


def test_a_planner_sees_no_view_before_its_time(world: World) -> None:
    planner = Planner(world)
    planner.observe(10)
    assert planner.seen == 10 and planner.now == world.at[9]
    assert planner.starts.sum() == pytest.approx(world.start[:10].sum(), rel=0.01)


def test_paths_and_rows_are_the_same() -> None:
    assert row_of(path_of(17)) == 17


@pytest.mark.parametrize("policy", ["lru", "plan"])
def test_a_replay_on_nginx_serves_everything(world: World, policy: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(running.RATE, policy, 150.0)
    found = running._replayed(world, policy)
    assert found.requests == len(world.row) - world.warm
    assert found.failed == 0
    assert 0 < found.hits < found.requests
    assert found.hit_bytes + found.origin_bytes - found.prewarm_bytes == world.demand_bytes
    assert (found.plans > 0) == (policy == "plan")
