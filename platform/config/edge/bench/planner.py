"""A planner that knows what the platform knows: the views up to now, and what the edge says that it holds."""

from __future__ import annotations

import numpy as np

from apps.segments.core import plan, value
from apps.segments.core.catalogue import Bools, Floats
from apps.segments.core.predictor.retention import Retention
from config.edge.bench.world import World
from workers.edge.ghost import Ghost

FORGET_S = 6 * 3600.0  # how long a start counts for what will start
AWAY_S = 900.0  # a viewer who has asked for nothing for so long has left
RULES = plan.Rules(requests=100, fill=0.985, base_threshold=0.02)
LIKELY = 0.9


class Planner:
    """Plans for one edge in the trace's own time."""

    def __init__(self, world: World) -> None:
        self.world = world
        catalogue = world.catalogue
        curve = Retention.fit(world.history)
        self.survival = np.concatenate([curve.survival(int(length)) for length in catalogue.lengths])
        self.starts = np.zeros((len(catalogue.lengths), int(catalogue.renditions.max())))
        self.factor: Floats = np.ones(len(catalogue.sizes))
        self.ghost = Ghost(world.capacity)  # measures the turn-over time in the trace's seconds
        self.viewers: dict[int, tuple[int, float]] = {}
        self.seen, self.now, self.aged_at = 0, float(world.at[0]), float(world.at[0])

    def observe(self, until: int) -> None:
        """Take in the requests up to a place."""
        world, catalogue = self.world, self.world.catalogue
        for place in range(self.seen, until):
            row, self.now = int(world.row[place]), float(world.at[place])
            self.viewers[int(world.session[place])] = (row, self.now)
            self.ghost.ask(str(row), int(catalogue.sizes[row]), self.now + 1)
            if world.start[place]:
                self.starts[catalogue.video[row], catalogue.rendition[row]] += 1
        self.seen = max(self.seen, until)
        self.starts *= np.exp(-(self.now - self.aged_at) / FORGET_S)
        self.aged_at = self.now
        self.viewers = {key: told for key, told in self.viewers.items() if self.now - told[1] < AWAY_S}

    def make(self, cached: Bools, used: int, capacity: int) -> plan.Plan:
        """Plan for an edge that holds these rows in so many bytes."""
        catalogue = self.world.catalogue
        watching = [
            (int(catalogue.video[row]), int(catalogue.rendition[row]), int(catalogue.index[row]), self.now - at)
            for row, at in self.viewers.values()
        ]
        demand = value.Demand(self.survival, self.starts / FORGET_S)
        values = value.next_access(catalogue, value.crowd(watching), demand, max(60.0, self.ghost.turnover_s))
        edge = plan.Edge(capacity, cached, limit_bps=1e9, used_bytes=used)
        return plan.make(catalogue, values, self.factor, edge, self._wishes(cached), (), RULES)

    def _wishes(self, cached: Bools) -> list[plan.Wish]:
        """Wish for the next segment of those who are likely to go on."""
        catalogue, wishes = self.world.catalogue, []
        for row, at in self.viewers.values():
            last = row + 1 >= len(catalogue.sizes) or catalogue.index[row + 1] == 0
            if last or self.now - at > 12 or cached[row + 1]:
                continue
            place = int(catalogue.place[catalogue.video[row]] + catalogue.index[row])
            going_on = float(self.survival[place + 1] / max(self.survival[place], 1e-9))
            if going_on >= LIKELY:
                wishes.append(plan.Wish(row + 1, plan.Stage.PATH, 6.0, going_on, "the next segment of a viewer"))
        return wishes


class Simulated:
    """The same edge without nginx: LRU by bytes on disk, and a plan every so many requests.

    A plan takes half the time until the next one to be fetched and carried out, as it does at a real edge.
    """

    def __init__(self, world: World, planner: Planner | None, every: float) -> None:
        self.world, self.planner, self.every = world, planner, every
        self.ghost = Ghost(world.capacity)
        self.hits, self.hit_bytes, self.prewarmed = 0, 0, 0
        self.waiting: plan.Plan | None = None

    def run(self) -> dict[str, int]:
        """Replay; gives hits, hit bytes, origin bytes and those of them that were prewarmed, of the measured half."""
        world, sizes = self.world, self.world.catalogue.sizes
        due, before = self.every / 2, (0, 0, 0, 0)
        for place, row in enumerate(world.row.tolist()):
            if place == world.warm:
                before = (self.hits, self.hit_bytes, self.ghost.origin_bytes, self.prewarmed)
            if self.planner is not None and place >= due:
                due += self.every / 2
                self._half(place)
            size = int(sizes[row])
            if self.ghost.ask(str(row), size, float(place + 1)):
                self.hits, self.hit_bytes = self.hits + 1, self.hit_bytes + size
        after = (self.hits, self.hit_bytes, self.ghost.origin_bytes, self.prewarmed)
        names = ("hits", "hit_bytes", "origin_bytes", "prewarm_bytes")
        return {name: now - then for name, now, then in zip(names, after, before, strict=True)}

    def _half(self, place: int) -> None:
        """Make a plan, or carry out the one that was made half a turn ago."""
        assert self.planner is not None
        if self.waiting is not None:
            self._carry_out(self.waiting, place)
            self.waiting = None
            return
        self.planner.observe(place)
        sizes = self.world.catalogue.sizes
        cached = np.zeros(len(sizes), np.bool_)
        cached[[int(name) for name, _, _ in self.ghost.dump()]] = True
        self.waiting = self.planner.make(cached, self.ghost.bytes, self.world.capacity)

    def _carry_out(self, made: plan.Plan, place: int) -> None:
        for line in made.evict:
            self.ghost.drop(str(line.row))
        for line in made.prewarm:
            if self.ghost.fetch(str(line.row), line.bytes, float(place + 1)):
                self.prewarmed += line.bytes
