"""Replay without and with plans, on nginx and in the simulator, and compare."""

from __future__ import annotations

import shutil
import socket
import tempfile
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

from config.edge.bench import world as worlds
from config.edge.bench.planner import Planner, Simulated
from config.edge.bench.replay import Replayed, replay
from config.edge.bench.world import World

PARTS = ("edge",)
REQUESTS, QUICK = 8_000, 3_000
SHARE = 0.10
# Requests a second: an edge of some megabytes must not turn over much faster between two plans than a large one.
RATE = {"lru": 100.0, "plan": 40.0}
Say = Callable[[str], None]


def run(data: Path, *, quick: bool = False, say: Say = print) -> Iterator[dict[str, Any]]:
    """Yield a row for each policy and system; `off_simulator` is nginx's origin bytes over the simulator's, less 1."""
    say("reading the real trace")
    world = worlds.real(data, SHARE, QUICK if quick else REQUESTS)
    lru_bytes = {"nginx": 0, "simulator": 0}
    for policy in ("lru", "plan"):
        say(f"replaying {len(world.row)} requests at {RATE[policy]:g} a second on nginx: {policy}")
        found = _replayed(world, policy)
        every = len(world.row) / max(1, found.plans)
        simulated = Simulated(world, Planner(world) if policy == "plan" else None, every).run()
        rows = (_row(world, "nginx", policy, _told(found)), _row(world, "simulator", policy, simulated))
        for row in rows:
            if policy == "lru":
                lru_bytes[row["system"]] = row["origin_bytes"]
            row["off_lru"] = row["origin_bytes"] / max(1, lru_bytes[row["system"]]) - 1
            row["off_simulator"] = row["origin_bytes"] / max(1, simulated["origin_bytes"]) - 1
            row["requests_a_plan"] = round(every, 1) if policy == "plan" else 0
            row["failed"] = found.failed if row["system"] == "nginx" else 0
            yield row


def _replayed(world: World, policy: str) -> Replayed:
    folder = Path(tempfile.mkdtemp(prefix="touchstone-edge-"))
    try:
        return replay(world, folder, free_port(), policy == "plan", RATE[policy])
    finally:
        shutil.rmtree(folder, ignore_errors=True)


def free_port() -> int:
    """Find a port of this machine that nobody listens on."""
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        return int(probe.getsockname()[1])


def _told(found: Replayed) -> dict[str, int]:
    return {
        "hits": found.hits,
        "hit_bytes": found.hit_bytes,
        "origin_bytes": found.origin_bytes,
        "prewarm_bytes": found.prewarm_bytes,
    }


def _row(world: World, system: str, policy: str, told: dict[str, int]) -> dict[str, Any]:
    requests = len(world.row) - world.warm
    return {
        "part": "edge",
        "trace": world.name,
        "seed": world.seed,
        "share_of_footprint": world.share,
        "system": system,
        "policy": policy,
        "requests": requests,
        "byte_hit": told["hit_bytes"] / world.demand_bytes,
        "request_hit": told["hits"] / requests,
        "origin_bytes": told["origin_bytes"],
        "demand_bytes": world.demand_bytes,
        "prewarm_bytes": told["prewarm_bytes"],
    }
