"""Reads of both tiers on the request path: one statement for the exact key, one for the nearest neighbours."""

from __future__ import annotations

from dataclasses import dataclass
from functools import lru_cache
from typing import Any
from uuid import UUID

import numpy as np
import psycopg
from django.db import connection
from numpy.typing import NDArray
from pgvector import HalfVector
from pgvector.psycopg.halfvec import HalfVectorBinaryDumper
from psycopg import sql

NEIGHBOURS = 10

EXACT = """
SELECT * FROM (
    SELECT 1 AS tier, q.golden_id, q.number, NULL::uuid AS entry_id, 'golden' AS origin, v.question, v.answer
    FROM answers_goldenquestion q JOIN answers_goldenversion v ON v.id = q.version_id
    WHERE %(context)s = ''::bytea AND q.namespace_id = %(namespace)s AND q.digest = %(digest)s
      AND (q.valid_from IS NULL OR q.valid_from <= now()) AND (q.valid_until IS NULL OR q.valid_until > now())
    UNION ALL
    SELECT 2, e.golden_id, v.number, e.id, e.origin, v.question, COALESCE(e.answer, v.answer)
    FROM answers_entry e
    LEFT JOIN answers_goldenanswer g ON g.id = e.golden_id
    LEFT JOIN answers_goldenversion v ON v.id = g.in_force_id
    WHERE e.namespace_id = %(namespace)s AND e.context = %(context)s AND e.digest = %(digest)s
      AND e.expires_at > now() AND e.suspended_at IS NULL AND (e.golden_id IS NULL OR (v.id IS NOT NULL
        AND (v.valid_from IS NULL OR v.valid_from <= now()) AND (v.valid_until IS NULL OR v.valid_until > now())))
) found ORDER BY tier LIMIT 1
"""

# The casts match the partial HNSW indexes that services.indexing makes for large namespaces, and what their predicates
# name (namespace, embedder, the empty context) is written out, since a plan made once for all values could not use
# them; the vector is a value. The nearest rows are found first and get their texts afterwards, so that the join cannot
# spoil the order of the index.
NEAREST = """
(SELECT 1 AS tier, near.id, near.golden_id, near.number, near.text, near.similarity, 'golden' AS origin, v.question,
        v.answer
 FROM (SELECT q.id, q.golden_id, q.number, q.text, q.version_id,
              1 - ((q.vector::halfvec({d})) <=> %(vector)b::halfvec({d})) AS similarity
       FROM answers_goldenquestion q
       WHERE {golden} AND q.namespace_id = {namespace} AND q.embedder = {embedder} AND q.vector IS NOT NULL
         AND (q.valid_from IS NULL OR q.valid_from <= now()) AND (q.valid_until IS NULL OR q.valid_until > now())
       ORDER BY (q.vector::halfvec({d})) <=> %(vector)b::halfvec({d}) LIMIT {k}) near
 JOIN answers_goldenversion v ON v.id = near.version_id
 ORDER BY near.similarity DESC)
UNION ALL
(SELECT 2, near.id, near.golden_id, v.number, near.question, near.similarity, near.origin, v.question,
        COALESCE(near.answer, v.answer)
 FROM (SELECT e.id, e.golden_id, e.question, e.origin, e.answer,
              1 - ((e.vector::halfvec({d})) <=> %(vector)b::halfvec({d})) AS similarity
       FROM answers_entry e
       WHERE e.namespace_id = {namespace} AND e.embedder = {embedder} AND e.context = {context}
         AND e.vector IS NOT NULL AND e.expires_at > now() AND e.suspended_at IS NULL
       ORDER BY (e.vector::halfvec({d})) <=> %(vector)b::halfvec({d}) LIMIT 1) near
 LEFT JOIN answers_goldenanswer g ON g.id = near.golden_id
 LEFT JOIN answers_goldenversion v ON v.id = g.in_force_id
 WHERE near.golden_id IS NULL OR (v.id IS NOT NULL
   AND (v.valid_from IS NULL OR v.valid_from <= now()) AND (v.valid_until IS NULL OR v.valid_until > now())))
"""


@dataclass(frozen=True, slots=True)
class Exact:
    """What stands under the exact key."""

    golden_id: UUID | None
    golden_version: int | None
    entry_id: UUID | None
    origin: str
    golden_question: str | None
    answer: str


@dataclass(frozen=True, slots=True)
class Neighbour:
    """One near question with its answer: of a golden answer (id is the golden question's), or of an entry."""

    id: UUID
    golden_id: UUID | None
    golden_version: int | None
    text: str
    similarity: float
    origin: str
    golden_question: str | None
    answer: str


@dataclass(frozen=True, slots=True)
class Neighbours:
    """The nearest golden questions, best first, and the nearest live entry."""

    golden: tuple[Neighbour, ...]
    entry: Neighbour | None


def exact(namespace_id: UUID, digest: bytes, context: bytes) -> Exact | None:
    """Look for the exact key among golden questions and their aliases, then among live entries."""
    rows = prepared(EXACT, {"namespace": namespace_id, "digest": digest, "context": context})
    if not rows:
        return None
    _, golden_id, number, entry_id, origin, question, answer = rows[0]
    return Exact(golden_id, number, entry_id, origin, question, answer)


def nearest(namespace_id: UUID, context: bytes, embedder: str, vector: NDArray[np.float32]) -> Neighbours:
    """Find the nearest questions of both tiers by cosine; golden answers know no context, so they need an empty one."""
    statement = nearest_statement(namespace_id, embedder, vector.shape[0], bool(context))
    rows = prepared(statement, {"context": context, "vector": HalfVector(vector)})
    golden = tuple(Neighbour(*row[1:]) for row in rows if row[0] == 1)
    entry = next((Neighbour(*row[1:]) for row in rows if row[0] == 2), None)
    return Neighbours(golden, entry)


@lru_cache(maxsize=4_096)
def nearest_statement(namespace_id: UUID, embedder: str, dimension: int, in_context: bool) -> str:
    """Write the search of one namespace; with a context only entries are searched."""
    return (
        sql.SQL(NEAREST)
        .format(
            d=sql.Literal(dimension),
            k=sql.Literal(NEIGHBOURS),
            golden=sql.Literal(not in_context),
            namespace=sql.Literal(namespace_id),
            embedder=sql.Literal(embedder.replace("%", "%%")),  # as all text among values
            context=sql.SQL("%(context)s" if in_context else "''::bytea"),
        )
        .as_string()
    )


def literal(vector: NDArray[np.float32]) -> str:
    """Write a vector the way pgvector reads it."""
    numbers = ",".join(["%.6f"] * vector.shape[0]) % tuple(vector.tolist())
    return f"[{numbers}]"


class HalfVectorDumper(HalfVectorBinaryDumper):
    """Send a vector in half precision; the statement's own cast tells its type, whose number differs by database."""

    oid = 0


psycopg.adapters.register_dumper(HalfVector, HalfVectorDumper)


def prepared(statement: str, values: Any) -> list[tuple[Any, ...]]:
    """Run a statement that each connection plans only once, which is half of its cost."""
    connection.ensure_connection()
    # Only through Django's wrapper does it learn that a connection died, and drops it.
    with connection.wrap_database_errors, psycopg.Cursor(connection.connection) as cursor:
        rows: list[tuple[Any, ...]] = cursor.execute(statement, values, prepare=True).fetchall()
    return rows
