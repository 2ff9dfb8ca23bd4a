"""One policy per namespace, and the one decision of the request path (Krites, 2026, section 3)."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, fields
from typing import Any

from apps.answers.core import guards

CONTEXT = re.compile(r"(?:ignore|exact|last_turns\((?P<turns>[1-9]\d?)\))\Z")
LONGEST_S = 10 * 365 * 86_400


class PolicyError(ValueError):
    """Some values of a policy are not valid; `errors` holds (field, message) pairs."""

    def __init__(self, errors: Sequence[tuple[str, str]]) -> None:
        super().__init__("; ".join(f"{name}: {message}" for name, message in errors))
        self.errors = list(errors)


@dataclass(frozen=True, slots=True)
class Policy:
    """When a near question is near enough, and what the judge may spend.

    Similarities are cosines; times are seconds. `margin_direct` is how much nearer the best golden answer must be than
    the next one with another answer before a semantic static hit is served; `margin_promoted` is how far a promoted
    entry's golden answer may lie behind the best golden answer around the new question.
    """

    tau_static: float = 0.85
    tau_dynamic: float = 0.85
    sigma_min: float = 0.5
    entry_ttl_s: int = 7 * 86_400
    max_entries: int = 100_000
    judge_after: int = 1
    verifications_per_minute: int = 600
    verifications_per_day: int = 100_000
    max_queue_age_s: int = 86_400
    verdict_ttl_s: int = 30 * 86_400
    error_budget: float = 0.02
    margin_direct: float = 0.05
    margin_promoted: float = 0.05
    context: str = "exact"
    guards: Mapping[str, bool] = field(default_factory=lambda: dict.fromkeys(guards.NAMES, True))
    paused: bool = False

    @property
    def context_mode(self) -> tuple[str, int]:
        """Give mode and number of turns of the context rule."""
        match = CONTEXT.match(self.context)
        turns = match["turns"] if match else None
        return ("last_turns", int(turns)) if turns else (self.context, 0)

    @classmethod
    def from_mapping(cls, values: Mapping[str, Any]) -> Policy:
        """Build a policy from JSON values over the defaults.

        Raises:
            PolicyError: with one (field, message) pair per bad value.
        """
        errors = [(name, "There is no such setting.") for name in values if name not in NAMES]
        kept = {name: value for name, value in values.items() if name in NAMES}
        for name, value in kept.items():
            if message := _wrong(name, value):
                errors.append((name, message))
        if errors:
            raise PolicyError(errors)
        if "guards" in kept:
            kept["guards"] = {**dict.fromkeys(guards.NAMES, True), **kept["guards"]}
        policy = cls(**kept)
        if policy.sigma_min > policy.tau_static:
            raise PolicyError([("sigma_min", "sigma_min must not be above tau_static.")])
        return policy

    def to_mapping(self) -> dict[str, Any]:
        """Give the policy as JSON values."""
        return {name: dict(self.guards) if name == "guards" else getattr(self, name) for name in NAMES}


NAMES = tuple(item.name for item in fields(Policy))
SHARES = dict.fromkeys(("tau_static", "tau_dynamic", "sigma_min", "margin_direct", "margin_promoted"), 0.0)
SHARES["error_budget"] = 0.0001  # no judge is ever shown to be faultless: a budget of 0 would stop every promotion
COUNTS = {
    "entry_ttl_s": (1, LONGEST_S),
    "max_entries": (1, 100_000_000),
    "judge_after": (1, 1_000_000),
    "verifications_per_minute": (0, 1_000_000),
    "verifications_per_day": (0, 100_000_000),
    "max_queue_age_s": (1, LONGEST_S),
    "verdict_ttl_s": (1, LONGEST_S),
}


def _wrong(name: str, value: Any) -> str:
    """Say what is wrong with one value; empty when nothing is."""
    if name in SHARES:
        good = isinstance(value, int | float) and not isinstance(value, bool) and SHARES[name] <= value <= 1
        return "" if good else f"Must be a number from {SHARES[name]:g} to 1."
    if name in COUNTS:
        low, high = COUNTS[name]
        good = isinstance(value, int) and not isinstance(value, bool) and low <= value <= high
        return "" if good else f"Must be a whole number from {low} to {high}."
    if name == "paused":
        return "" if isinstance(value, bool) else "Must be true or false."
    if name == "context":
        known = isinstance(value, str) and CONTEXT.match(value) is not None
        return "" if known else "Must be ignore, exact or last_turns(n) with n from 1 to 99."
    return _wrong_guards(value)


def _wrong_guards(value: Any) -> str:
    if not isinstance(value, Mapping) or not all(isinstance(on, bool) for on in value.values()):
        return "Must be an object of guard names with true or false."
    unknown = [name for name in value if name not in guards.NAMES]
    return f"There is no guard {unknown[0]!r}; there are {', '.join(guards.NAMES)}." if unknown else ""


@dataclass(frozen=True, slots=True)
class Near:
    """A near question: of a golden answer, or of an entry (whose `answer` names the golden answer it points to)."""

    text: str
    similarity: float
    answer: str | None


@dataclass(frozen=True, slots=True)
class Decision:
    """What to serve, and what to tell the judge.

    `margin` is s(best golden) - s(best golden with a different answer); 1.0 when there is no other answer near.
    """

    outcome: str
    similarity_static: float | None
    similarity_dynamic: float | None
    margin: float | None
    guards: tuple[str, ...]
    grey: bool
    reason: str


def margin_of(golden: Sequence[Near]) -> float | None:
    """Give how much nearer the best golden answer is than the best one with a different answer."""
    if not golden:
        return None
    other = next((near.similarity for near in golden if near.answer != golden[0].answer), None)
    return 1.0 if other is None else golden[0].similarity - other


def decide(question: str, policy: Policy, golden: Sequence[Near], entry: Near | None, least: float = 0.0) -> Decision:
    """Decide strictly, as a cache without a judge would; a near miss or a guarded hit is only marked grey.

    Args:
        question: the new question.
        policy: the namespace's policy.
        golden: the nearest golden questions, best first.
        entry: the nearest live entry.
        least: a similarity that this client demands on top; it may only tighten.
    """
    best = golden[0] if golden else None
    margin = margin_of(golden)
    static = best is not None and best.similarity >= max(policy.tau_static, least)
    fired = _static_vetoes(question, policy, best, margin) if best and static else ()
    served_static = static and not fired
    dynamic = entry is not None and entry.similarity >= max(policy.tau_dynamic, least) and not served_static
    vetoes = _dynamic_vetoes(question, policy, golden, entry) if entry and dynamic else ()
    outcome = "static_hit" if served_static else "dynamic_hit" if dynamic and not vetoes else "miss"
    grey = best is not None and not served_static and best.similarity >= policy.sigma_min
    shown = fired or vetoes
    return Decision(
        outcome=outcome,
        similarity_static=best.similarity if best else None,
        similarity_dynamic=entry.similarity if entry else None,
        margin=margin,
        guards=shown,
        grey=grey,
        reason="guarded" if shown and outcome == "miss" else "",
    )


def _static_vetoes(question: str, policy: Policy, best: Near, margin: float | None) -> tuple[str, ...]:
    fired = guards.fired(question, best.text, policy.guards)
    if policy.guards.get("margin", True) and margin is not None and margin < policy.margin_direct:
        fired = (*fired, "margin")
    return fired


def _dynamic_vetoes(question: str, policy: Policy, golden: Sequence[Near], entry: Near) -> tuple[str, ...]:
    fired = guards.fired(question, entry.text, policy.guards)
    if entry.answer is None or not golden or not policy.guards.get("agreement", True):
        return fired
    own = max((near.similarity for near in golden if near.answer == entry.answer), default=-1.0)
    return (*fired, "agreement") if own < golden[0].similarity - policy.margin_promoted else fired
