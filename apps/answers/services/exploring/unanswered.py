"""What people ask and no golden answer covers: the misses of the last weeks, grouped by meaning."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import timedelta

import numpy as np
from django.db.models import Count, Exists, Max, OuterRef
from django.db.models.functions import Now

from apps.answers.models import GoldenQuestion, Namespace, Query
from apps.answers.services import powers

DAYS = 30
MOST_QUESTIONS = 400
MOST_CLUSTERS = 30
NEAR = 0.7  # about where MiniLM's paraphrases begin; a cluster too wide is worse than two


@dataclass(frozen=True, slots=True)
class Cluster:
    """Questions that mean about the same: most asked first, how often together, and when last."""

    questions: tuple[str, ...]
    asked: int
    last: object

    @property
    def leader(self) -> str:
        """Give the question asked most."""
        return self.questions[0]


def unanswered(namespace: Namespace) -> list[Cluster]:
    """Group the most asked misses of the last 30 days, most asked groups first.

    Raises:
        Unavailable: the embedder cannot embed them.
    """
    golden = GoldenQuestion.objects.filter(namespace=namespace, digest=OuterRef("digest"))
    rows = (
        Query.objects.filter(namespace=namespace, outcome=Query.Outcome.MISS, context=b"")
        .filter(created_at__gt=Now() - timedelta(days=DAYS))
        .values("digest")
        .annotate(asked=Count("id"), question=Max("question"), last=Max("created_at"))
        .exclude(Exists(golden))
        .order_by("-asked", "-last")
    )
    found = [(row["question"], row["asked"], row["last"]) for row in rows[:MOST_QUESTIONS]]
    return _grouped(found)


def _grouped(found: list[tuple[str, int, object]]) -> list[Cluster]:
    """Let each question join the nearest leader that is near enough, or lead a group of its own."""
    if not found:
        return []
    vectors = powers.vectors_of([question for question, _asked, _last in found])
    leaders: list[int] = []
    members: dict[int, list[int]] = {}
    for place, vector in enumerate(vectors):
        similar = vectors[leaders] @ vector if leaders else np.empty(0, np.float32)
        best = int(similar.argmax()) if leaders else -1
        if best >= 0 and similar[best] >= NEAR:
            members[leaders[best]].append(place)
        else:
            leaders.append(place)
            members[place] = [place]
    clusters = [_cluster([found[place] for place in places]) for places in members.values()]
    return sorted(clusters, key=lambda each: -each.asked)[:MOST_CLUSTERS]


def _cluster(rows: list[tuple[str, int, object]]) -> Cluster:
    questions = tuple(question for question, _asked, _last in rows)
    return Cluster(questions, sum(asked for _q, asked, _l in rows), rows[0][2])
