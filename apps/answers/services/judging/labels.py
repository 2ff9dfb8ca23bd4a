"""Labelled pairs: taken from files and clients, with the geometry that judges learn from."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from django.db import transaction
from numpy.typing import NDArray

from apps.access import services as access
from apps.access.core.callers import Caller
from apps.answers.core import text
from apps.answers.core.judge import Example
from apps.answers.models import GoldenQuestion, Label, Namespace, tiers
from apps.answers.services import powers

MOST_PAIRS = 20_000
TAUGHT_BY = (Label.Source.CURATOR, Label.Source.UPLOAD, Label.Source.FEEDBACK)


@dataclass(frozen=True, slots=True)
class LabelledPair:
    """A question, a golden question, and whether the golden answer may be served for it."""

    question: str
    golden_question: str
    same: bool


@transaction.atomic
def add_pairs(
    caller: Caller, namespace: Namespace, pairs: Sequence[LabelledPair], *, canary: bool = False
) -> list[Label]:
    """Keep uploaded pairs as labels, once each, with their similarity and margin in this namespace.

    Raises:
        Invalid: there are none, too many, or one holds something that is not a question; nothing is kept.
    """
    _check(pairs)
    mine = powers.embedder().embed([pair.question for pair in pairs])
    theirs = powers.embedder().embed([pair.golden_question for pair in pairs])
    rows = [
        _label(namespace, pair, question, golden, caller, canary)
        for pair, question, golden in zip(pairs, mine, theirs, strict=True)
    ]
    access.record(caller, "uploaded labels to", namespace, pairs=len(rows), canary=canary)
    return rows


def examples(namespace: Namespace) -> list[Example]:
    """Give the namespace's labels as judges and calibrations learn from them; canaries stay unseen."""
    rows = Label.objects.filter(namespace=namespace, canary=False, source__in=TAUGHT_BY)
    return [Example(*row) for row in rows.order_by("created_at").values_list("similarity", "margin", "same")]


def _label(
    namespace: Namespace,
    pair: LabelledPair,
    question: NDArray[np.float32],
    golden: NDArray[np.float32],
    caller: Caller,
    canary: bool,
) -> Label:
    similarity = float(question @ golden)
    own = GoldenQuestion.objects.filter(namespace=namespace, digest=text.digest(pair.golden_question)).first()
    near = tiers.nearest(namespace.id, b"", powers.embedder().name, question).golden
    rival = next((one.similarity for one in near if own is None or one.golden_id != own.golden_id), None)
    row, _ = Label.objects.update_or_create(
        namespace=namespace,
        question=pair.question,
        golden_question=pair.golden_question,
        source=Label.Source.UPLOAD,
        defaults={
            "golden_id": own.golden_id if own else None,
            "similarity": similarity,
            "margin": None if rival is None else similarity - rival,
            "same": pair.same,
            "by": caller.name,
            "canary": canary,
        },
    )
    return row


def _check(pairs: Sequence[LabelledPair]) -> None:
    if not 1 <= len(pairs) <= MOST_PAIRS:
        raise access.Invalid(f"Send 1 to {MOST_PAIRS} labelled pairs.", field="pairs")
    errors = []
    for number, pair in enumerate(pairs):
        for name in ("question", "golden_question"):
            try:
                text.check_question(getattr(pair, name))
            except ValueError as problem:
                errors.append((f"pairs.{number}.{name}", str(problem)))
    if errors:
        raise access.Invalid("Some pairs are not valid.", errors=errors[:100])
