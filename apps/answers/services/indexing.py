"""Approximate search for large namespaces: a partial HNSW index each, so that a namespace filter never costs recall.

A small namespace is searched exactly: comparing a question with every row of it is as fast as walking a graph, and
misses nothing. The predicates and the cast match the statements of models.tiers and models.rivals.
"""

from __future__ import annotations

import logging
import threading
import zlib
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from typing import Any
from uuid import UUID

from django.db import connection
from psycopg import sql

log = logging.getLogger(__name__)
LARGE = 1_000  # rows from which on the graph beats comparing with all
SMALL = 500  # rows below which an index is dropped again; between the two nothing changes
LOCK = 0x70757368  # an arbitrary name for "somebody tends the indexes"
PREFIX = "hnsw"


@dataclass(frozen=True, slots=True)
class Table:
    """A searched table, the letter it has in index names and what its searches demand beside namespace and embedder."""

    name: str
    letter: str
    demand: str


TABLES = (
    Table("answers_goldenquestion", "g", "true"),
    Table("answers_entry", "e", "context = ''::bytea"),
)


@dataclass(frozen=True, slots=True)
class Index:
    """The partial index of one namespace and embedder; `dimension` numbers a vector."""

    table: Table
    namespace_id: UUID
    embedder: str
    dimension: int

    @property
    def name(self) -> str:
        """Name the index by what it covers."""
        covered = zlib.crc32(f"{self.embedder}/{self.dimension}".encode())
        return f"{PREFIX}_{self.table.letter}_{self.namespace_id.hex}_{covered:08x}"

    def statement(self) -> sql.Composed:
        """Write the statement that makes it without blocking writers."""
        return sql.SQL(
            "CREATE INDEX CONCURRENTLY IF NOT EXISTS {name} ON {table}"
            " USING hnsw ((vector::halfvec({dimension})) halfvec_cosine_ops) WITH (m = 16, ef_construction = 128)"
            " WHERE namespace_id = {namespace} AND embedder = {embedder} AND {demand}"
        ).format(
            name=sql.Identifier(self.name),
            table=sql.Identifier(self.table.name),
            dimension=sql.Literal(self.dimension),
            namespace=sql.Literal(str(self.namespace_id)),
            embedder=sql.Literal(self.embedder),
            demand=sql.SQL(self.table.demand),
        )


def tend() -> int:
    """Make the indexes that are due and drop those that are not; returns how many changed. One process at a time.

    Must run outside a transaction.
    """
    with _alone() as alone:
        if not alone:
            return 0
        there = _existing()
        wanted = {index.name: index for index in _due(SMALL)}
        due = {index.name: index for index in _due(LARGE)}
        doomed = [name for name, valid in there.items() if name not in wanted or not valid]
        made = [index for name, index in due.items() if not there.get(name)]
        for name in doomed:
            _execute(sql.SQL("DROP INDEX CONCURRENTLY IF EXISTS {}").format(sql.Identifier(name)))
        for index in made:
            _execute(index.statement())
            log.info("made index %s", index.name)
        return len(doomed) + len(made)


class Aside:
    """The thread of this process that tends indexes, if one does."""

    thread: threading.Thread | None = None


def tend_aside() -> int:
    """Tend in a thread, since the index of a large namespace takes minutes; returns whether one was started."""
    if Aside.thread is not None and Aside.thread.is_alive():
        return 0
    Aside.thread = threading.Thread(target=_tend_and_hang_up, name="indexing", daemon=True)
    Aside.thread.start()
    return 1


def _tend_and_hang_up() -> None:
    try:
        tend()
    except Exception:  # an index that was left unfinished is made again next time
        log.exception("indexes could not be tended")
    finally:
        connection.close()


@contextmanager
def _alone() -> Iterator[bool]:
    with connection.cursor() as cursor:
        cursor.execute("SELECT pg_try_advisory_lock(%s)", [LOCK])
        alone = bool(cursor.fetchone()[0])
        try:
            yield alone
        finally:
            if alone:
                cursor.execute("SELECT pg_advisory_unlock(%s)", [LOCK])


def _existing() -> dict[str, bool]:
    """Give the indexes of this module by name, and whether each was finished."""
    with connection.cursor() as cursor:
        cursor.execute(
            "SELECT c.relname, i.indisvalid FROM pg_index i JOIN pg_class c ON c.oid = i.indexrelid"
            " WHERE i.indrelid = ANY(%s::regclass[]) AND c.relname LIKE %s",
            [[table.name for table in TABLES], f"{PREFIX}\\_%"],
        )
        return dict(cursor.fetchall())


def _due(rows: int) -> list[Index]:
    """List the indexes of all namespaces that have more than so many rows."""
    found = [_newest(table, namespace_id) for table in TABLES for namespace_id in _large(table, rows)]
    return [index for index in found if index is not None]


def _large(table: Table, rows: int) -> list[UUID]:
    """List the namespaces with more than so many rows that a search reads; an index-only scan finds them."""
    statement = "SELECT namespace_id FROM {} WHERE {} GROUP BY namespace_id HAVING count(*) > {}"
    parts = sql.SQL(statement).format(sql.Identifier(table.name), sql.SQL(table.demand), sql.Literal(rows))
    return [row[0] for row in _read(parts)]


def _newest(table: Table, namespace_id: UUID) -> Index | None:
    """Cover the embedder of the newest row: it is the one that serving asks with."""
    statement = (
        "SELECT embedder, vector_dims(vector) FROM {} WHERE namespace_id = {} AND vector IS NOT NULL AND {}"
        " ORDER BY id DESC LIMIT 1"
    )
    parts = sql.SQL(statement).format(sql.Identifier(table.name), sql.Literal(str(namespace_id)), sql.SQL(table.demand))
    return next((Index(table, namespace_id, *row) for row in _read(parts)), None)


def _read(statement: sql.Composed) -> list[tuple[Any, ...]]:
    with connection.cursor() as cursor:
        cursor.execute(statement)
        return list(cursor.fetchall())


def _execute(statement: sql.Composed) -> None:
    with connection.cursor() as cursor:
        cursor.execute(statement)
