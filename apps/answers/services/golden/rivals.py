"""Golden questions that stand too close: near duplicates when they answer alike, conflicts when they do not."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from uuid import UUID

import numpy as np

from apps.answers.core.policy import Policy
from apps.answers.core.text import normalise
from apps.answers.models import GoldenAnswer, GoldenQuestion, GoldenVersion, Namespace
from apps.answers.models.rivals import NearGolden, nearest_golden
from apps.answers.services import powers
from apps.answers.services.golden.publication import phrases

MOST_QUESTIONS = 10_000
BLOCK = 512


@dataclass(frozen=True, slots=True)
class Rival:
    """Another golden question so close to one of ours that either may be served for the other.

    `margin` is 1 - similarity: how much nearer our own wording is to itself than to the rival; serving asks for the
    policy's `margin_direct` between answers that differ.
    """

    kind: str
    own_question: str
    golden_id: UUID
    version: int
    question: str
    answer: str
    similarity: float
    margin: float


def conflicts(row: GoldenAnswer) -> list[Rival]:
    """List the published questions that are as near to a working copy as `tau_static`, nearest first.

    Raises:
        Unavailable: the embedder fails.
    """
    least = Policy.from_mapping(row.namespace.policy).tau_static
    wordings = phrases(row)
    found: dict[UUID, tuple[str, NearGolden]] = {}
    for wording, vector in zip(wordings, powers.vectors_of(wordings), strict=True):
        for near in nearest_golden(row.namespace_id, powers.embedder().name, vector, row.pk):
            known = found.get(near.golden_id)
            if near.similarity >= least and (known is None or near.similarity > known[1].similarity):
                found[near.golden_id] = (wording, near)
    answers = _answers(found)
    rivals = [
        _rival(wording, normalise(row.answer), answers[near.golden_id], near.text, near.similarity)
        for wording, near in found.values()
        if near.golden_id in answers
    ]
    return sorted(rivals, key=lambda rival: -rival.similarity)


def conflict_map(namespace: Namespace, most: int = 200) -> list[tuple[GoldenQuestion, Rival]]:
    """List the closest pairs of a namespace's questions in force that answer differently, nearest first.

    Looks at the newest 10,000 questions, a block of rows against all at a time.
    """
    least = Policy.from_mapping(namespace.policy).tau_static
    rows = list(
        GoldenQuestion.objects.filter(namespace=namespace, embedder=powers.embedder().name)
        .select_related("version")
        .order_by("-created_at")[:MOST_QUESTIONS]
    )
    close = sorted(_close_pairs(rows, least), key=lambda pair: -pair[2])
    pairs = []
    for left, right, similarity in close:
        rival = _rival(left.text, normalise(left.version.answer), right.version, right.text, similarity)
        if rival.kind == "conflict":
            pairs.append((left, rival))
        if len(pairs) >= most:
            break
    return pairs


def _close_pairs(rows: list[GoldenQuestion], least: float) -> Iterable[tuple[GoldenQuestion, GoldenQuestion, float]]:
    if not rows:
        return
    vectors = np.array([row.vector for row in rows], np.float32)
    for start in range(0, len(rows), BLOCK):
        block = vectors[start : start + BLOCK] @ vectors.T
        for left, right in zip(*np.nonzero(block >= least), strict=True):
            one, other = rows[start + left], rows[right]
            if start + left < right and one.golden_id != other.golden_id:
                yield one, other, float(block[left, right])


def _answers(golden_ids: Iterable[UUID]) -> dict[UUID, GoldenVersion]:
    rows = GoldenVersion.objects.filter(serving_for__in=list(golden_ids))
    return {row.golden_id: row for row in rows}


def _rival(own: str, own_answer: str, other: GoldenVersion, question: str, similarity: float) -> Rival:
    same = normalise(other.answer) == own_answer
    return Rival(
        kind="duplicate" if same else "conflict",
        own_question=own,
        golden_id=other.golden_id,
        version=other.number,
        question=question,
        answer=other.answer,
        similarity=round(similarity, 6),
        margin=round(1 - similarity, 6),
    )
