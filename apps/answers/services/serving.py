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
from apps.answers.core import guards, policy, text
from apps.answers.models import tiers
from apps.answers.services import noting, policies, powers
from apps.answers.services.policies import Space

log = logging.getLogger(__name__)


@dataclass(frozen=True, slots=True)
class Question:
    """What a client asks."""

    text: str
    namespace: str = "default"
    context: tuple[text.Turn, ...] = ()
    min_similarity: float = 0.0


@dataclass(frozen=True, slots=True)
class Key:
    """A question as the cache sees it: normalised digest and the context's fingerprint."""

    question: str
    digest: bytes
    context: bytes


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
    near: policy.Near | None = None
    reason: str = ""
    query_id: UUID | None = None
    verification_id: UUID | None = None
    vector: NDArray[np.float32] | None = field(default=None, compare=False, repr=False)
    timings_ms: dict[str, float] = field(default_factory=dict)


class Clock:
    """Measure the steps of one request in milliseconds."""

    def __init__(self) -> None:
        self.started = self.last = time.perf_counter()
        self.steps: dict[str, float] = {}

    def step(self, name: str) -> None:
        """Book the time since the last step under a name."""
        now = time.perf_counter()
        self.steps[name] = round((now - self.last) * 1000, 3)
        self.last = now

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
    if hit and hit.entry_id is None:
        return _exact(key, hit)
    if why := guards.never_cache(key.question, space.policy.guards):
        return Served("bypass", key, reason=why)
    if hit:
        return _exact(key, hit)
    clock.step("search")
    vector = _embed(key.question)
    clock.step("embed")
    if vector is None:
        access_count_fail_open(space)
        return Served("miss", key, reason="embedder_failed")
    served = _nearest(space, question, key, vector)
    clock.steps["search"] += served.timings_ms["search"]
    return served


def key_of(space: Space, question: Question) -> Key:
    """Compute the exact key of a question.

    Raises:
        Invalid: the question is empty, too long or not text.
    """
    try:
        asked = text.check_question(question.text)
    except ValueError as problem:
        raise access.Invalid(str(problem), field="question") from problem
    mode, turns = space.policy.context_mode
    return Key(asked, text.digest(asked), text.fingerprint(question.context, mode, turns))
