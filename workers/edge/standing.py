"""Where an edge stands: the plan against plain LRU for the same requests, and what follows when the plan loses."""

from __future__ import annotations

from collections import deque
from typing import Any

from apps.segments.core.control import Comparison, Mode, next_mode
from workers.edge import addresses
from workers.edge.ghost import Ghost
from workers.edge.journal import Access
from workers.edge.plans import Plan

LEAST_REQUESTS = 50  # of a window that says anything
WINDOWS = 12


class Standing:
    """The mode, and two ghosts: `lru` is the edge without plans, `plan` the edge with all of them."""

    def __init__(self, capacity: int, window_s: float) -> None:
        self.lru, self.plan = Ghost(capacity), Ghost(capacity)
        self.mode, self.window_s = Mode.ACTIVE, window_s
        self.windows: deque[Comparison] = deque(maxlen=WINDOWS)
        self._asked_for_shadow = False
        self._real, self._requests, self._since, self._now = 0, 0, 0.0, 0.0
        self._lru_before, self._plan_before = 0, 0

    def take(self, access: Access) -> None:
        """Let the ghosts see one request; playlists and failures are no part of the comparison."""
        if not access.good or access.playlist:
            return
        self._real += access.size if access.origin_bytes else 0
        if access.source == "viewer":
            name = addresses.digest(access.key)
            self._requests += 1
            self.lru.ask(name, access.size, access.at)
            self.plan.ask(name, access.size, access.at)
            self._now = max(self._now, access.at)
            self._since = self._since or access.at

    def decide(self, plan: Plan) -> bool:
        """Take in a plan and say whether to carry it out; an operator ends a fall-back by shadow on, then off."""
        if self.mode is Mode.SHADOW and self._asked_for_shadow and not plan.shadow:
            self._become(Mode.ACTIVE)
        self._asked_for_shadow = plan.shadow
        self._imagine(plan)
        return self.mode is Mode.ACTIVE and not plan.shadow

    def close_window(self, now: float) -> Comparison | None:
        """Compare at the end of a window; gives the comparison, None before the end or when too little was asked."""
        if not self._since or now - self._since < self.window_s:
            return None
        active = self.mode is Mode.ACTIVE and not self._asked_for_shadow
        plan = self._real if active else self.plan.origin_bytes - self._plan_before
        found = Comparison(plan, self.lru.origin_bytes - self._lru_before)
        enough = self._requests >= LEAST_REQUESTS
        self._begin()
        if not enough:
            return None
        self.windows.append(found)
        mode = next_mode(self.mode, list(self.windows)) if active or self.mode is not Mode.ACTIVE else self.mode
        if mode is not self.mode:
            self._become(mode)
        return found

    @property
    def told(self) -> str:
        """Give the mode in force: an active edge whose plans are for show is in shadow."""
        return str(Mode.SHADOW if self.mode is Mode.ACTIVE and self._asked_for_shadow else self.mode)

    def dump(self) -> dict[str, Any]:
        """Give what must outlive the agent, without the ghosts."""
        windows = [(one.plan_origin_bytes, one.lru_origin_bytes) for one in self.windows]
        return {"mode": str(self.mode), "windows": windows, "shadow": self._asked_for_shadow}

    def load(self, state: dict[str, Any]) -> None:
        """Go on from what an earlier run left."""
        self.mode = Mode(state.get("mode", "active"))
        self.windows.extend(Comparison(plan, lru) for plan, lru in state.get("windows", ()))
        self._asked_for_shadow = bool(state.get("shadow"))

    def _become(self, mode: Mode) -> None:
        self.mode = mode
        self.windows.clear()

    def _imagine(self, plan: Plan) -> None:
        """Carry the plan out on its ghost, by the sizes that it tells."""
        for line in plan.evict:
            self.plan.drop(line.target.digest)
        self.plan.pin({line.target.digest for line in plan.pin})
        left = plan.budget_bytes
        for line in plan.prewarm:
            if line.bytes <= left and self.plan.fetch(line.target.digest, line.bytes, self._now):
                left -= line.bytes

    def _begin(self) -> None:
        self._real, self._requests, self._since = 0, 0, 0.0
        self._lru_before, self._plan_before = self.lru.origin_bytes, self.plan.origin_bytes
