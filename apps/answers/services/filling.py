"""Fill the dynamic tier: answers that a client brings, and answers that the backend generated."""

from __future__ import annotations

from uuid import UUID

import numpy as np
from django.db import connection
from numpy.typing import NDArray

from apps.access import services as access
from apps.access.core.callers import Caller
from apps.answers.core.policy import Policy
from apps.answers.models import Entry, Query
from apps.answers.models.tiers import literal
from apps.answers.services import powers

MAX_ANSWER = 256 * 1024

# `since` is when the question was asked: what was written under its key after that stands.
WRITE = """
INSERT INTO answers_entry AS e (namespace_id, question, digest, context, embedder, vector, origin, answer, by,
    expires_at, hits)
VALUES (%(namespace)s, %(question)s, %(digest)s, %(context)s, %(embedder)s, %(vector)s, %(origin)s, %(answer)s,
    %(by)s, now() + %(ttl)s::interval, 0)
ON CONFLICT (namespace_id, context, digest) DO UPDATE
    SET origin = excluded.origin, answer = excluded.answer, golden_id = NULL, golden_version = NULL,
        verification_id = NULL, by = excluded.by, written_at = now(), created_at = now(), hits = 0,
        expires_at = excluded.expires_at, suspended_at = NULL, vector = excluded.vector, embedder = excluded.embedder
    WHERE e.expires_at <= now() OR e.written_at <= COALESCE(%(since)s, now())
RETURNING id
"""


def fill(caller: Caller, query_id: UUID, answer: str, ttl_s: int | None = None) -> Entry:
    """Take a client's answer to a question that missed.

    Raises:
        Missing: no such query in this workspace.
        Conflict: the question was a hit, is not cacheable, or was answered since.
        Invalid: the answer is empty, too long or holds NUL; the ttl is not positive.
    """
    query = (
        Query.objects.select_related("namespace")
        .filter(pk=query_id, namespace__workspace_id=caller.workspace_id)
        .first()
    )
    if query is None:
        raise access.Missing("This workspace has no such query.")
    if query.outcome != Query.Outcome.MISS:
        raise access.Conflict(f"This query was a {query.outcome}; only a miss can be filled.")
    _check(answer, ttl_s)
    entry_id = write(query, answer, Entry.Origin.CLIENT, caller.name, ttl_s=ttl_s)
    if entry_id is None:
        raise access.Conflict("This question was answered since.")
    return Entry.objects.select_related("namespace").get(pk=entry_id)


def write(
    query: Query,
    answer: str,
    origin: str,
    by: str,
    *,
    vector: NDArray[np.float32] | None = None,
    ttl_s: int | None = None,
) -> UUID | None:
    """Write an entry under a query's key; None when something newer stands there."""
    embedder = powers.embedder()
    if vector is None:
        vector = embedder.embed([query.question])[0]
    ttl = ttl_s or Policy.from_mapping(query.namespace.policy).entry_ttl_s
    with connection.cursor() as cursor:
        cursor.execute(
            WRITE,
            {
                "namespace": query.namespace_id,
                "question": query.question,
                "digest": bytes(query.digest),
                "context": bytes(query.context),
                "embedder": embedder.name,
                "vector": literal(vector),
                "origin": origin,
                "answer": answer,
                "by": by,
                "ttl": f"{ttl} seconds",
                "since": query.created_at,
            },
        )
        row = cursor.fetchone()
    return UUID(str(row[0])) if row else None


def _check(answer: str, ttl_s: int | None) -> None:
    if not answer.strip():
        raise access.Invalid("The answer is empty.", field="answer")
    if len(answer) > MAX_ANSWER:
        raise access.Invalid(f"An answer has at most {MAX_ANSWER} characters.", field="answer")
    if "\0" in answer or any("\ud800" <= letter <= "\udfff" for letter in answer):
        raise access.Invalid("The answer holds characters that are not text.", field="answer")
    if ttl_s is not None and not 0 < ttl_s <= 10 * 365 * 86_400:
        raise access.Invalid("ttl_s must be between 1 second and ten years.", field="ttl_s")
