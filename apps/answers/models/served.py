"""How often golden answers were served and promoted lately, for a page of them in one statement."""

from __future__ import annotations

from collections.abc import Sequence
from uuid import UUID

from django.db import connection

MOST = 1_000

# Counting stops at 1,000 each: nobody needs to know more at a glance, and nothing is slow.
COUNT = f"""
SELECT g.id,
    (SELECT count(*) FROM (SELECT 1 FROM answers_query q WHERE q.golden_id = g.id LIMIT {MOST}) served),
    (SELECT count(*) FROM (SELECT 1 FROM answers_entry e WHERE e.golden_id = g.id LIMIT {MOST}) promoted)
FROM unnest(%s::uuid[]) AS g(id)
"""  # noqa: S608 - no value is in the text


def served_and_promoted(golden_ids: Sequence[UUID]) -> dict[UUID, tuple[int, int]]:
    """Count the served questions and the promotions of golden answers, each up to 1,000."""
    if not golden_ids:
        return {}
    with connection.cursor() as cursor:
        cursor.execute(COUNT, [list(golden_ids)])
        return {key: (served, promoted) for key, served, promoted in cursor.fetchall()}
