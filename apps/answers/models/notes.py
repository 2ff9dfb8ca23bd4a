"""Writes of the request path, each one statement: the query log and the de-duplicated verification."""

from __future__ import annotations

from datetime import timedelta
from typing import Any
from uuid import UUID

from django.db import connection

from apps.answers.models.tiers import prepared

LOG = """
INSERT INTO answers_query (namespace_id, by, question, digest, context, outcome, origin, reason, golden_id,
    golden_version, entry_id, verification_id, s_static, s_dynamic, guards, grey, total_ms)
VALUES (%(namespace)s, %(by)s, %(question)s, %(digest)s, %(context)s, %(outcome)s, %(origin)s, %(reason)s,
    %(golden)s, %(golden_version)s, %(entry)s, %(verification)s, %(s_static)s, %(s_dynamic)s,
    %(guards)s::varchar[], %(grey)s, %(total_ms)s)
RETURNING id
"""

# A verdict is remembered for `ttl`; after that the same row is judged anew. RETURNING is empty for a duplicate.
ENQUEUE = """
INSERT INTO answers_verification AS v (namespace_id, question, digest, golden_id, golden_version, golden_question,
    judge, similarity, margin, features, status, attempts, worker, error, verdict, scores, reason, tokens, judged_by,
    promotion)
VALUES (%(namespace)s, %(question)s, %(digest)s, %(golden)s, %(golden_version)s, %(golden_question)s, %(judge)s,
    %(similarity)s, %(margin)s, %(features)s, %(status)s, 0, '', '', '', '{}', '', 0, '', '')
ON CONFLICT (namespace_id, digest, golden_id, golden_version, judge) DO UPDATE
    SET status = excluded.status, attempts = 0, verdict = '', scores = '{}', reason = '', sent_at = now(),
        judged_at = NULL, judged_by = '', promotion = '', created_at = now()
    WHERE v.status IN ('done', 'failed') AND v.finished_at < now() - %(ttl)s::interval
        AND v.judged_by = v.judge
RETURNING id
"""

FIND = """
SELECT id FROM answers_verification WHERE namespace_id = %(namespace)s AND digest = %(digest)s
    AND golden_id = %(golden)s AND golden_version = %(golden_version)s AND judge = %(judge)s
"""


def log_query(values: dict[str, Any]) -> UUID:
    """Insert one row of the query log and return its id."""
    return UUID(str(prepared(LOG, values)[0][0]))


def enqueue_verification(values: dict[str, Any], ttl: timedelta) -> tuple[UUID | None, bool]:
    """Insert a verification unless the same pair has one; returns (id, whether it is to be judged now)."""
    with connection.cursor() as cursor:
        cursor.execute(ENQUEUE, {**values, "ttl": f"{ttl.total_seconds():.0f} seconds"})
        if row := cursor.fetchone():
            return UUID(str(row[0])), True
        cursor.execute(FIND, values)
        row = cursor.fetchone()
        return (UUID(str(row[0])) if row else None), False
