"""Carry plans out one at a time, beside the agent's clock; a newer plan ends the one before it."""

from __future__ import annotations

import queue
import threading
import time
from collections.abc import Iterator
from contextlib import suppress
from typing import Any

from workers.edge.addresses import Target, file_of
from workers.edge.plans import Line, Plan
from workers.edge.settings import Settings
from workers.edge.steering import Done, Nginx, Pins, Prewarmer

MOST_REFUSALS = 200  # told to the platform
PATIENCE_S = 2.0  # for all pins of a plan to lie in their zone once they were asked for


class Applier:
    """One thread that carries out the latest plan."""

    def __init__(self, settings: Settings) -> None:
        self.settings = settings
        self.nginx = Nginx(settings.edge_url, settings.edge_token, settings.folder)
        self.pins = Pins(settings.folder)
        self._plans: queue.Queue[Plan | None] = queue.Queue()
        self._results: queue.Queue[tuple[str, dict[str, Any]]] = queue.Queue()
        self._stop = threading.Event()
        self._thread = threading.Thread(target=self._run, name="plans", daemon=True)

    def start(self) -> None:
        """Start the thread."""
        self._thread.start()

    def offer(self, plan: Plan) -> None:
        """End the plan in hand, and carry out this one."""
        self._stop.set()
        self._plans.put(plan)

    def stop(self) -> None:
        """End the plan in hand and the thread."""
        self._stop.set()
        self._plans.put(None)
        self._thread.join(timeout=5)

    def results(self) -> Iterator[tuple[str, dict[str, Any]]]:
        """Give the results of plans that are over: (plan, result)."""
        with suppress(queue.Empty):
            while True:
                yield self._results.get_nowait()

    def apply(self, plan: Plan, stop: threading.Event) -> Done:
        """Carry a plan out: make room, pin, fetch."""
        done = Done(refused=list(plan.refused))
        self._evict(plan, done, stop)
        missing = self._pin(plan, done, stop)
        lines = {line.target.key: line for line in (*missing, *plan.prewarm)}
        wanted = list(lines.values())
        for line in wanted[self.settings.most_requests :]:
            done.refused.append((line.target.path, "over the requests of one plan"))
        limit = min(plan.limit_bps, self.settings.line_bps)
        prewarmer = Prewarmer(self.nginx, done, stop, self.settings.flows)
        prewarmer.run(wanted[: self.settings.most_requests], plan.budget_bytes, limit)
        return done

    def _run(self) -> None:
        while (plan := self._latest()) is not None:
            self._stop.clear()
            if not self._plans.empty():
                continue
            try:
                done = self.apply(plan, self._stop)
                self._results.put((plan.id, result_of(done, "superseded" if self._stop.is_set() else "done")))
            except Exception as problem:  # a plan that breaks must not end those that follow
                self._results.put((plan.id, {"status": "failed", "detail": f"{type(problem).__name__}: {problem}"}))

    def _latest(self) -> Plan | None:
        plan = self._plans.get()
        with suppress(queue.Empty):
            while plan is not None:
                plan = self._plans.get_nowait()
        return plan

    def _evict(self, plan: Plan, done: Done, stop: threading.Event) -> None:
        kept = {line.target.key for line in (*plan.pin, *plan.prewarm)}
        left = int(self.settings.capacity * self.settings.most_evicted)
        for line in plan.evict:
            if stop.is_set():
                return
            if line.target.key in kept or line.target.place in self.pins.places:
                done.refused.append((line.target.path, "pinned or prewarmed by the same plan"))
            elif left <= 0:
                done.refused.append((line.target.path, "more than one plan may evict"))
            elif freed := self.nginx.forget(line.target):
                left -= freed
                done.evicted += 1
                done.evicted_bytes += freed

    def _pin(self, plan: Plan, done: Done, stop: threading.Event) -> list[Line]:
        """Make the pins those of the plan, up to their share; gives those that must be fetched."""
        wanted, left = [], self.settings.pins
        for line in plan.pin:
            if line.bytes > left:
                done.refused.append((line.target.path, "over the pins' share of this edge"))
                continue
            left -= line.bytes
            wanted.append(line)
        self._unpin({line.target.place for line in wanted}, done)
        present = [line for line in wanted if self._holds(line.target, "segments")]
        for line in wanted:
            if line.target.place not in self.pins.places:
                done.pinned += self.pins.add(line.target.place)
        # What the edge holds moves from one zone to the other without asking the origin.
        moved = Done()
        Prewarmer(self.nginx, moved, stop, self.settings.flows).run(present, self.settings.pins, 1e12)
        deadline = time.monotonic() + PATIENCE_S
        for line in present:
            if self._arrives(line.target, deadline, stop):
                self.nginx.forget(line.target)
        return [line for line in wanted if not self._holds(line.target, "pins")]

    def _unpin(self, wanted: set[str], done: Done) -> None:
        for place in self.pins.places - wanted:
            self.pins.remove(place)
            self.nginx.forget(Target(place, place, place), "pins")
            done.unpinned += 1

    def _arrives(self, target: Target, deadline: float, stop: threading.Event) -> bool:
        """Wait for a pin's file, since nginx may answer a moment before it lies in its place."""
        while not (there := self._holds(target, "pins")) and time.monotonic() < deadline and not stop.wait(0.001):
            pass
        return there

    def _holds(self, target: Target, zone: str) -> bool:
        return file_of(self.settings.folder / zone, target.digest).exists()


def result_of(done: Done, status: str) -> dict[str, Any]:
    """Say what was done in the words of the result: `done`, `superseded`, `shadow` or `fallback`."""
    return {
        "status": status,
        "prewarmed": done.prewarmed,
        "prewarmed_bytes": done.prewarmed_bytes,
        "present": done.present,
        "evicted": done.evicted,
        "evicted_bytes": done.evicted_bytes,
        "pinned": done.pinned,
        "unpinned": done.unpinned,
        "lies": done.lies,
        "refused": [{"url": url, "reason": reason} for url, reason in done.refused[:MOST_REFUSALS]],
        "refused_count": len(done.refused),
    }
