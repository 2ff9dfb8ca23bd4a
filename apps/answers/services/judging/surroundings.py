"""What the namespace's labels say of the questions around them, for the offline judge."""

from __future__ import annotations

from typing import Any
from uuid import UUID

import numpy as np
from django.db.models import Count, Max, Q, QuerySet

from apps.answers.core import guards
from apps.answers.core.judge import Example, Exemplars
from apps.answers.core.policy import Policy
from apps.answers.models import Label, Namespace, Verification
from apps.answers.services import powers
from apps.answers.services.judging.labels import TAUGHT_BY

MOST_LABELS = 5_000
_known: dict[UUID, tuple[tuple[Any, ...], Exemplars]] = {}


def surroundings(namespace: Namespace) -> Exemplars:
    """Give the newest labels as examples, from memory while none was added or changed its mind."""
    state = tuple(
        _labels(namespace)
        .order_by()
        .aggregate(n=Count("id"), same=Count("id", filter=Q(same=True)), last=Max("created_at"))
        .values()
    )
    known = _known.get(namespace.pk)
    if known is None or known[0] != state:
        _known.clear()  # one namespace at a time is judged a lot; its vectors are megabytes
        known = _known[namespace.pk] = state, _read(namespace)
    return known[1]


def _read(namespace: Namespace) -> Exemplars:
    rows = list(_labels(namespace).values_list("question", "golden_id", "same")[:MOST_LABELS])
    vectors = powers.embedder().embed([question for question, _, _ in rows])
    return Exemplars(vectors, [golden for _, golden, _ in rows], [same for _, _, same in rows])


def taught_examples(namespace: Namespace) -> list[Example]:
    """Give the labels as the offline judge learns from them, each measured against all others."""
    around, enabled = surroundings(namespace), Policy.from_mapping(namespace.policy).guards
    rows = list(_labels(namespace)[:MOST_LABELS])
    vectors = powers.embedder().embed([row.question for row in rows])
    found = []
    for row, vector in zip(rows, vectors, strict=True):
        features = around.features(vector, row.golden_id, row.similarity, row.margin, labelled=True)
        guarded = bool(guards.fired(row.question, row.golden_question, enabled))
        found.append(Example(row.similarity, row.margin, row.same, features, guarded))
    return found


def measured(row: Verification) -> dict[str, float]:
    """Measure a near miss against the labels of its namespace."""
    around = surroundings(row.namespace)
    if not len(around.vectors):
        return {}
    vector = np.asarray(powers.embedder().embed([row.question])[0])
    return around.features(vector, row.golden_id, row.similarity, row.margin)


def _labels(namespace: Namespace) -> QuerySet[Label]:
    rows = Label.objects.filter(namespace=namespace, canary=False, source__in=TAUGHT_BY)
    return rows.order_by("-created_at", "pk")
