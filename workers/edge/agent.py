"""The agent's clock: read the log, look at the cache, report, fetch a plan, hand it on."""

from __future__ import annotations

import os
import signal
import sys
import threading
import time
from contextlib import suppress
from typing import Any

from workers.edge import plans, state
from workers.edge.addresses import Allowed
from workers.edge.applying import Applier, result_of
from workers.edge.contents import Changes, Contents
from workers.edge.control import Touchstone, Unknown, Unreachable
from workers.edge.counts import Counts
from workers.edge.journal import Tail
from workers.edge.load import Load
from workers.edge.settings import Settings
from workers.edge.standing import Standing
from workers.edge.steering import Done
from workers.edge.trimming import Trimmer

GHOSTS_S = 60.0
MOST_CHANGES = 5000  # told in one report
MOST_RESULTS = 50


class Agent:
    """One edge's agent; `run` returns after `stop`."""

    def __init__(self, settings: Settings) -> None:
        self.settings = settings
        self.allowed = Allowed(settings.origin, settings.prefixes)
        self.platform = Touchstone(settings.platform_url, settings.platform_key)
        self.applier, self.load = Applier(settings), Load(settings.line_bps)
        self.segments, self.pins = Contents(settings.folder / "segments"), Contents(settings.folder / "pins")
        self.standing = Standing(settings.capacity, settings.window_s)
        self.trimmer = Trimmer(self.applier.nginx, self.segments, settings.capacity)
        self.stopped, self.changes, self.results = threading.Event(), Changes(), list[tuple[str, dict[str, Any]]]()
        self.edge, self.last_plan, self.sequence, self.whole = "", "", 0, True
        self.pending: dict[str, Any] = {}
        self.comparison: dict[str, Any] | None = None
        self.counts = Counts()
        self.tail = Tail(settings.folder / "log" / "access.log")
        self._due = dict.fromkeys(("report", "plan", "ghosts"), 0.0)
        self._said = ""
        self._restore()

    def run(self) -> None:
        """Tick until told to stop."""
        self.applier.start()
        while not self.stopped.is_set():
            self.tick()
            self.stopped.wait(self.settings.tick_s)
        self.applier.stop()
        self.read_log()
        self._save()
        self._save_ghosts()
        self.tail.close()
        self.platform.close()

    def tick(self) -> None:
        """Do what is due; no failure of the platform reaches further than here."""
        self.read_log()
        self._look()
        if self.trimmer.trim():
            self._look()
        self.results.extend(self.applier.results())
        try:
            if not self.edge:
                self._register()
            if self._is_due("report", self.settings.report_s):
                self.report()
            self._tell_results()
            if self._is_due("plan", self.settings.plan_s):
                self.fetch_plan()
            self._say("")
        except Unknown as problem:
            self.edge = ""
            self._say(str(problem))
        except Unreachable as problem:
            self._say(str(problem))
        self._save()
        if self._is_due("ghosts", GHOSTS_S):
            self._save_ghosts()

    def read_log(self) -> None:
        """Count what came since the last time, and close the window of comparison when it is over."""
        for access in self.tail.new():
            self.counts.take(access)
            self.standing.take(access)
            self.trimmer.take(access)
            if access.source == "viewer":
                self.load.sent(access.bytes)
        before = self.standing.told
        if (found := self.standing.close_window(time.time())) is not None:
            self.comparison = {
                "plan_origin_bytes": found.plan_origin_bytes,
                "lru_origin_bytes": found.lru_origin_bytes,
                "window_s": self.settings.window_s,
            }
        if self.standing.told != before:
            self._print(f"this edge went from {before} to {self.standing.told}")
        if self.tail.rotate():
            with suppress(OSError, ValueError):
                os.kill(int((self.settings.folder / "nginx.pid").read_text()), signal.SIGUSR1)

    def report(self) -> None:
        """Report; what was counted is sent until the platform has taken it, under one number."""
        if not self.pending:
            self.sequence += 1
            self.pending = {"sequence": self.sequence, **self.counts.report()}
            self.counts = Counts()
            self._save()
        load, lost = self.load.measure()
        added = dict(list(self.changes.added.items())[:MOST_CHANGES])
        removed = list(self.changes.removed)[:MOST_CHANGES]
        self.platform.report(
            self.edge,
            {
                **self.pending,
                "occupied_bytes": self.segments.bytes + self.pins.bytes,
                "pinned_bytes": self.pins.bytes,
                "files": len(self.segments.held) + len(self.pins.held),
                "capacity_bytes": self.settings.capacity,
                "load": round(load, 4),
                "retransmission": round(lost, 5),
                "turnover_s": round(self.standing.lru.turnover_s, 1),
                "mode": self.standing.told,
                "comparison": self.comparison,
                "added": [{"url": key, "bytes": size} for key, size in added.items()],
                "removed": removed,
                "whole": self.whole,
            },
        )
        self.pending, self.comparison, self.whole = {}, None, False
        self.changes.added = {key: size for key, size in self.changes.added.items() if key not in added}
        self.changes.removed = {key: size for key, size in self.changes.removed.items() if key not in set(removed)}

    def fetch_plan(self) -> None:
        """Fetch the next plan, and hand it on or only note what it would have done."""
        told = self.platform.plan(self.edge, self.last_plan)
        if told is None or str(told.get("id")) == self.last_plan:
            return
        try:
            plan = plans.read(told, self.allowed)
        except plans.BrokenPlan as problem:
            self.last_plan = str(told.get("id") or self.last_plan)
            self.results.append((self.last_plan, {"status": "failed", "detail": str(problem)}))
            return
        self.last_plan = plan.id
        if self.standing.decide(plan):
            self.applier.offer(plan)
        else:
            self.results.append((plan.id, result_of(Done(refused=plan.refused), self.standing.told)))

    def _tell_results(self) -> None:
        del self.results[:-MOST_RESULTS]
        while self.results:
            self.platform.result(self.edge, *self.results[0])
            self.results.pop(0)

    def _register(self) -> None:
        settings = self.settings
        self.edge = self.platform.register(
            {
                "name": settings.name,
                "url": settings.public_url or settings.edge_url,
                "capacity_bytes": settings.capacity,
                "line_bps": settings.line_bps,
            }
        )
        self._print(f"registered as {settings.name} ({self.edge})")
        held = (*self.segments.held.values(), *self.pins.held.values())
        self.changes, self.whole = Changes(added={one.key: one.bytes for one in held}), True

    def _look(self) -> None:
        """Walk the cache; what came and went adds up until a report tells it."""
        for zone in (self.segments, self.pins):
            found = zone.walk()
            for key in found.removed.keys() - found.added.keys():
                self.changes.added.pop(key, None)
                self.changes.removed[key] = found.removed[key]
            for key, size in found.added.items():
                self.changes.removed.pop(key, None)
                self.changes.added[key] = size

    def _restore(self) -> None:
        """Go on where the last run stopped, killed or not."""
        kept = state.read(self.settings.folder / "agent.json")
        self.edge, self.last_plan = str(kept.get("edge", "")), str(kept.get("plan", ""))
        self.sequence, self.pending = int(kept.get("sequence", 0)), dict(kept.get("pending", {}))
        self.counts, self.comparison = Counts(kept.get("counts")), kept.get("comparison")
        self.tail = Tail(self.settings.folder / "log" / "access.log", kept.get("tail"))
        self.standing.load(kept.get("standing", {}))
        self._look()
        ghosts = state.read(self.settings.folder / "ghosts.json")
        held = [(name, one.bytes, one.written_at) for name, one in self.segments.held.items()]
        self.standing.lru.seed(ghosts.get("lru", held))
        self.standing.plan.seed(ghosts.get("plan", held))

    def _save(self) -> None:
        state.write(
            self.settings.folder / "agent.json",
            {
                "edge": self.edge,
                "plan": self.last_plan,
                "sequence": self.sequence,
                "pending": self.pending,
                "counts": dict(self.counts.numbers),
                "comparison": self.comparison,
                "tail": self.tail.state,
                "standing": self.standing.dump(),
            },
        )

    def _save_ghosts(self) -> None:
        ghosts = {"lru": self.standing.lru.dump(), "plan": self.standing.plan.dump()}
        state.write(self.settings.folder / "ghosts.json", ghosts)

    def _is_due(self, name: str, every_s: float) -> bool:
        now = time.monotonic()
        if now < self._due[name]:
            return False
        self._due[name] = now + every_s
        return True

    def _say(self, line: str) -> None:
        """Say a trouble once, and once that it is over; viewers have not noticed."""
        if line != self._said and "left alone" not in line:
            self._print(line or "the platform answers again")
            self._said = line

    def _print(self, line: str) -> None:
        print(line, file=sys.stderr, flush=True)
