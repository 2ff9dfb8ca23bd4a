"""Try a question: every step of the decision, drafts included if wanted, with nothing written."""

from __future__ import annotations

from dataclasses import dataclass
from uuid import UUID

import numpy as np
from numpy.typing import NDArray

from apps.access.core.callers import Caller
from apps.answers.core import guards, policy
from apps.answers.models import GoldenAnswer, Namespace, tiers
from apps.answers.services import powers, serving
from apps.answers.services.policies import Space
from apps.answers.services.serving import Question

MOST_DRAFTS = 500
SHOWN = 5
DRAFTS = (GoldenAnswer.Status.DRAFT, GoldenAnswer.Status.IN_REVIEW, GoldenAnswer.Status.APPROVED)


@dataclass(frozen=True, slots=True)
class Candidate:
    """A golden question near the one that is tried, and which guards see a difference."""

    golden_id: UUID
    text: str
    answer: str
    similarity: float
    draft: bool
    guards: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class Trial:
    """What a question would get: by its exact key, or by the decision on what is near.

    `outcome` is the word of the contract; `why_never` names the rule when the question may not be cached.
    """

    outcome: str
    answer: str
    exact: tiers.Exact | None
    why_never: str
    candidates: tuple[Candidate, ...]
    entry: tiers.Neighbour | None
    decision: policy.Decision | None
    rules: policy.Policy


def try_question(caller: Caller, namespace: Namespace, question: str, *, drafts: bool = False) -> Trial:
    """Decide what a question without context would get, as the request path does.

    Args:
        caller: whose workspace it is.
        namespace: where it is asked.
        question: the text.
        drafts: pretend that drafts, and what is in review or approved, were published (the newest 500).

    Raises:
        Invalid: the question is empty, too long or not text.
        Unavailable: the embedder cannot embed it.
    """
    rules = policy.Policy.from_mapping(namespace.policy)
    key = serving.key_of(_space(namespace, rules), Question(question, namespace.name))
    exact = tiers.exact(namespace.pk, key.digest, key.context)
    why = guards.never_cache(key.question, rules.guards)
    if exact and (exact.entry_id is None or not why):
        outcome = "static_hit" if exact.entry_id is None else "dynamic_hit"
        return Trial(outcome, exact.answer, exact, "", (), None, None, rules)
    if why:
        return Trial("bypass", "", None, why, (), None, None, rules)
    vector = powers.vectors_of([key.question])[0]
    found = tiers.nearest(namespace.pk, key.context, powers.embedder().name, vector)
    candidates = _published(found, key.question, rules)
    if drafts:
        candidates += _drafts(namespace, key.question, vector, rules)
    candidates.sort(key=lambda each: -each.similarity)
    return _decided(key.question, candidates, found.entry, rules)


def _decided(question: str, candidates: list[Candidate], entry: tiers.Neighbour | None, rules: policy.Policy) -> Trial:
    near = [policy.Near(each.text, each.similarity, str(each.golden_id)) for each in candidates]
    other = serving.near_entry(entry)
    decision = policy.decide(question, rules, near, other)
    answer = ""
    if decision.outcome == "static_hit":
        answer = candidates[0].answer
    elif decision.outcome == "dynamic_hit" and entry:
        answer = entry.answer
    return Trial(decision.outcome, answer, None, "", tuple(candidates[:SHOWN]), entry, decision, rules)


def _space(namespace: Namespace, rules: policy.Policy) -> Space:
    return Space(
        namespace.pk, namespace.workspace_id, namespace.name, rules, namespace.judge_version, namespace.promotion_paused
    )


def _published(found: tiers.Neighbours, question: str, rules: policy.Policy) -> list[Candidate]:
    return [
        Candidate(
            near.golden_id,
            near.text,
            near.answer,
            near.similarity,
            False,
            _seen(question, near.text, rules),
        )
        for near in found.golden
        if near.golden_id
    ]


def _drafts(namespace: Namespace, question: str, vector: NDArray[np.float32], rules: policy.Policy) -> list[Candidate]:
    """Embed the working copies; the nearest question of each answer stands for it."""
    rows = list(GoldenAnswer.objects.filter(namespace=namespace, status__in=DRAFTS).order_by("-pk")[:MOST_DRAFTS])
    texts = [(row, text) for row in rows for text in (row.question, *row.aliases)]
    if not texts:
        return []
    similar = powers.vectors_of([text for _row, text in texts]) @ vector
    best: dict[UUID, Candidate] = {}
    for (row, text), similarity in zip(texts, similar, strict=True):
        if row.pk not in best or similarity > best[row.pk].similarity:
            best[row.pk] = Candidate(row.pk, text, row.answer, float(similarity), True, _seen(question, text, rules))
    return list(best.values())


def _seen(question: str, other: str, rules: policy.Policy) -> tuple[str, ...]:
    return guards.fired(question, other, rules.guards)
