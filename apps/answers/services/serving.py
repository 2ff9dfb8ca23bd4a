"""The critical path: exact key, nearest neighbours, one strict decision; near misses are noted and left to the judge.

Krites, 2026: serving decides as a cache without a judge would; verification never adds to a request's latency.
"""

from __future__ import annotations

import logging
import time
from dataclasses import dataclass, field, replace
from uuid import UUID

import numpy as np
from numpy.typing import NDArray

from apps.access import services as access
from apps.access.core.callers import Caller
from apps.answers.core import guards, policy
from apps.answers.core import text as texts
from apps.answers.models import tiers
from apps.answers.services import noting, policies, powers
from apps.answers.services.policies import Space

log = logging.getLogger(__name__)


@dataclass(frozen=True, slots=True)
class Question:
    """What a client asks."""

    text: str
    namespace: str = "default"
    context: tuple[texts.Turn, ...] = ()
    min_similarity: float = 0.0


@dataclass(frozen=True, slots=True)
class Key:
    """A question as the cache sees it: normalised digest and the context's fingerprint."""

    question: str
    digest: bytes
    context: bytes


@dataclass(frozen=True, slots=True)
class NearMiss:
    """The golden question just missed, for the judge."""

    golden_id: UUID
    golden_version: int
    question: str
    similarity: float
    margin: float | None
    features: dict[str, float]


@dataclass(frozen=True, slots=True)
class Served:
    """What was served, where it comes from and why."""

    outcome: str
    key: Key
    answer: str | None = None
    origin: str | None = None
    golden_id: UUID | None = None
    golden_version: int | None = None
    golden_question: str | None = None
    entry_id: UUID | None = None
    s_static: float | None = None
    s_dynamic: float | None = None
    guards: tuple[str, ...] = ()
    grey: bool = False
    near: NearMiss | None = None
    reason: str = ""
    query_id: UUID | None = None
    verification_id: UUID | None = None
    vector: NDArray[np.float32] | None = field(default=None, compare=False, repr=False)
    timings_ms: dict[str, float] = field(default_factory=dict)


STEPS = ("embed", "search", "backend")


class Clock:
    """Measure the steps of one request in milliseconds; one that was not needed took none."""

    def __init__(self) -> None:
        self.started = self.last = time.perf_counter()
        self.steps = dict.fromkeys(STEPS, 0.0)

    def step(self, name: str) -> None:
        """Book the time since the last step under a name."""
        self.steps[name] = self.lap()

    def lap(self) -> float:
        """Give the time since the last step and begin the next."""
        now = time.perf_counter()
        self.last, passed = now, now - self.last
        return round(passed * 1000, 3)

    def total(self) -> float:
        """Give the time since the start."""
        return round((time.perf_counter() - self.started) * 1000, 3)


def answer(caller: Caller, question: Question) -> Served:
    """Serve a question from the two tiers and note what was served.

    Raises:
        Invalid: the question is empty, too long or not text.
        Missing: the workspace has no such namespace.
    """
    clock = Clock()
    space = policies.space(caller.workspace_id, question.namespace)
    served = find(space, question, clock)
    served = noting.note(caller, space, served, clock.total())
    return replace(served, timings_ms={**clock.steps, "total": clock.total()})


def find(space: Space, question: Question, clock: Clock) -> Served:
    """Decide what the cache serves for a question, writing nothing."""
    key = key_of(space, question)
    hit = tiers.exact(space.id, key.digest, key.context)
    clock.step("search")
    if hit and hit.entry_id is None:
        return _exact(key, hit)
    if why := guards.never_cache(key.question, space.policy.guards):
        return Served("bypass", key, reason=why)
    if hit:
        return _exact(key, hit)
    try:
        vector = powers.embedder().embed([key.question])[0]
    except Exception:  # whatever an embedder does, serving falls open to a miss
        log.exception("the embedder failed; the question is a miss")
        return Served("miss", key, reason="embedder_failed")
    clock.step("embed")
    served = _nearest(space, question, key, vector)
    clock.steps["search"] += clock.lap()
    return served


def key_of(space: Space, question: Question) -> Key:
    """Compute the exact key of a question.

    Raises:
        Invalid: the question is empty, too long or not text.
    """
    try:
        asked = texts.check_question(question.text)
    except ValueError as problem:
        raise access.Invalid(str(problem), field="question") from problem
    mode, turns = space.policy.context_mode
    return Key(asked, texts.digest(asked), texts.fingerprint(question.context, mode, turns))


def _exact(key: Key, hit: tiers.Exact) -> Served:
    static = hit.entry_id is None
    return Served(
        outcome="static_hit" if static else "dynamic_hit",
        key=key,
        answer=hit.answer,
        origin=hit.origin,
        golden_id=hit.golden_id,
        golden_version=hit.golden_version,
        golden_question=hit.golden_question,
        entry_id=hit.entry_id,
        s_static=1.0 if static else None,
        s_dynamic=None if static else 1.0,
        reason="exact",
    )


def _nearest(space: Space, question: Question, key: Key, vector: NDArray[np.float32]) -> Served:
    found = tiers.nearest(space.id, key.context, powers.embedder().name, vector)
    golden = [policy.Near(near.text, near.similarity, str(near.golden_id)) for near in found.golden]
    entry = near_entry(found.entry)
    decision = policy.decide(key.question, space.policy, golden, entry, question.min_similarity)
    served = Served(
        outcome=decision.outcome,
        key=key,
        s_static=_rounded(decision.similarity_static),
        s_dynamic=_rounded(decision.similarity_dynamic),
        guards=decision.guards,
        grey=decision.grey,
        near=_near_miss(found.golden[0], decision) if decision.grey else None,
        reason=decision.reason,
        vector=vector,
    )
    if decision.outcome == "static_hit":
        return _with(served, found.golden[0], None)
    if decision.outcome == "dynamic_hit" and found.entry is not None:
        return _with(served, found.entry, found.entry.id)
    return served


def near_entry(entry: tiers.Neighbour | None) -> policy.Near | None:
    """Write an entry as the decision sees it."""
    if entry is None:
        return None
    return policy.Near(entry.text, entry.similarity, str(entry.golden_id) if entry.golden_id else None)


def _near_miss(best: tiers.Neighbour, decision: policy.Decision) -> NearMiss | None:
    if best.golden_id is None or best.golden_version is None:
        return None
    return NearMiss(best.golden_id, best.golden_version, best.text, best.similarity, decision.margin, {})


def _with(served: Served, near: tiers.Neighbour, entry_id: UUID | None) -> Served:
    """Put the answer of a near question on a hit."""
    return replace(
        served,
        answer=near.answer,
        origin=near.origin,
        golden_id=near.golden_id,
        golden_version=near.golden_version,
        golden_question=near.golden_question,
        entry_id=entry_id,
    )


def _rounded(similarity: float | None) -> float | None:
    return None if similarity is None else round(similarity, 6)
