"""A plan as it comes from the platform, checked line by line: what cannot be meant is refused, and the rest is done."""

from __future__ import annotations

import math
from collections.abc import Iterable
from dataclasses import dataclass, field
from typing import Any

from workers.edge.addresses import Allowed, Refused, Target

MOST_LINES = 50_000


class BrokenPlan(ValueError):
    """A plan that cannot be read at all."""


@dataclass(frozen=True, slots=True)
class Line:
    """One line: the segment, the bytes that the platform believes it has, and why."""

    target: Target
    bytes: int
    reason: str


@dataclass(slots=True)
class Plan:
    """What to do; `budget_bytes` and `limit_bps` bound the prewarming; `refused` are (address, reason)."""

    id: str
    prewarm: list[Line] = field(default_factory=list)
    evict: list[Line] = field(default_factory=list)
    pin: list[Line] = field(default_factory=list)
    budget_bytes: int = 0
    limit_bps: float = 0.0
    shadow: bool = True
    refused: list[tuple[str, str]] = field(default_factory=list)


def read(told: Any, allowed: Allowed) -> Plan:
    """Read a plan; raises BrokenPlan."""
    if not isinstance(told, dict) or not isinstance(told.get("id"), int | str):
        raise BrokenPlan("a plan is an object with an id")
    plan = Plan(str(told["id"]), shadow=told.get("shadow") is not False)
    plan.budget_bytes = int(_number(told, "budget_bytes"))
    plan.limit_bps = _number(told, "limit_bps")
    for name, lines in (("prewarm", plan.prewarm), ("evict", plan.evict), ("pin", plan.pin)):
        listed = told.get(name) or []
        if not isinstance(listed, list) or len(listed) > MOST_LINES:
            raise BrokenPlan(f"{name} is a list of {MOST_LINES} lines at most")
        lines.extend(_lines(listed, allowed, plan.refused))
    return plan


def _lines(listed: list[Any], allowed: Allowed, refused: list[tuple[str, str]]) -> Iterable[Line]:
    seen: set[str] = set()
    for one in listed:
        told = one if isinstance(one, dict) else {"url": one}
        try:
            target = allowed.target(told.get("url"))
            size = int(_number(told, "bytes"))
        except (Refused, BrokenPlan) as problem:
            refused.append((str(told.get("url"))[:200], str(problem)))
            continue
        if target.key not in seen:
            seen.add(target.key)
            yield Line(target, size, str(told.get("reason") or "")[:500])


def _number(told: dict[str, Any], name: str) -> float:
    value = told.get(name) or 0
    if isinstance(value, bool) or not isinstance(value, int | float) or not math.isfinite(value) or value < 0:
        raise BrokenPlan(f"{name} must be a number that is not negative")
    return float(value)
