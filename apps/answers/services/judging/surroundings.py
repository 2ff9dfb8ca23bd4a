"""What the namespace's labels say of the questions around them, for the offline judge."""

from __future__ import annotations

import numpy as np
from django.db.models import QuerySet

from apps.answers.core.judge import Example, Exemplars
from apps.answers.models import Label, Namespace, Verification
from apps.answers.services import powers
from apps.answers.services.judging.labels import TAUGHT_BY

MOST_LABELS = 5_000


def surroundings(namespace: Namespace) -> Exemplars:
    """Give the newest labels as examples; their vectors come from the embedder's memory."""
    rows = list(_labels(namespace).values_list("question", "golden_id", "same")[:MOST_LABELS])
    vectors = powers.embedder().embed([question for question, _, _ in rows])
    return Exemplars(vectors, [golden for _, golden, _ in rows], [same for _, _, same in rows])


def taught_examples(namespace: Namespace) -> list[Example]:
    """Give the labels as the offline judge learns from them, each measured against all others."""
    around = surroundings(namespace)
    rows = list(_labels(namespace)[:MOST_LABELS])
    vectors = powers.embedder().embed([row.question for row in rows])
    found = []
    for row, vector in zip(rows, vectors, strict=True):
        features = around.features(vector, row.golden_id, row.similarity, row.margin, labelled=True)
        found.append(Example(row.similarity, row.margin, row.same, features))
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
