"""The golden questions nearest to a text, validity windows aside: the read behind conflict detection."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any
from uuid import UUID

import numpy as np
from django.db import connection
from numpy.typing import NDArray

from apps.answers.models.tiers import literal

# The casts match the partial HNSW indexes that services.indexing makes for large namespaces.
NEAREST_GOLDEN = """
SELECT q.golden_id, q.number, q.text, 1 - ((q.vector::halfvec({d})) <=> %(vector)s::halfvec({d})) AS similarity
FROM answers_goldenquestion q
WHERE q.namespace_id = %(namespace)s AND q.embedder = %(embedder)s AND q.golden_id <> %(but)s
ORDER BY (q.vector::halfvec({d})) <=> %(vector)s::halfvec({d}) LIMIT {k}
"""


@dataclass(frozen=True, slots=True)
class NearGolden:
    """One near question of another golden answer."""

    golden_id: UUID
    version: int
    text: str
    similarity: float


def nearest_golden(
    namespace_id: UUID, embedder: str, vector: NDArray[np.float32], but: UUID, k: int = 10
) -> list[NearGolden]:
    """Find the k nearest questions of the golden answers other than `but`, nearest first, by cosine."""
    values: dict[str, Any] = {"namespace": namespace_id, "embedder": embedder, "vector": literal(vector), "but": but}
    with connection.cursor() as cursor:
        cursor.execute(NEAREST_GOLDEN.format(d=vector.shape[0], k=k), values)
        return [NearGolden(*row) for row in cursor.fetchall()]
