"""What the site needs before it starts: its tables and its sample workspace; nearly free when nothing changed."""

from __future__ import annotations

import hashlib
import os
import sys
from pathlib import Path

import psycopg
from psycopg import sql

from config.stack import children

CHECKOUT = Path(__file__).resolve().parents[3]
PREPARED_FROM = (
    "requirements.txt",
    "apps/*/migrations/*.py",
    "apps/*/sample/*",
    "platform/config/management/commands/sample.py",
)
READ = "SELECT shobj_description(oid, 'pg_database') FROM pg_database WHERE datname = current_database()"
DONE = sql.SQL("COMMENT ON DATABASE {} IS {}")


class PreparationError(Exception):
    """Migrations or the sample workspace failed; what went wrong was printed."""


def prepare(var: Path, url: str) -> None:
    """Apply migrations and make the sample workspace, unless the database says that this was done for this code.

    Raises:
        PreparationError: a command failed.
    """
    digest = _digest()
    with psycopg.connect(os.environ["DATABASE_URL"], autocommit=True) as connection:
        if _remembered(connection) != digest:
            _manage("migrate", "--verbosity", "0", "--no-input")
            _manage("sample")
            _remember(connection, digest)
        elif not _credentials_name(var, url):
            _manage("sample")


def _digest() -> str:
    """Name the state of the code: its packages, its migrations, its sample."""
    found = hashlib.sha256()
    for pattern in PREPARED_FROM:
        for path in sorted(path for path in CHECKOUT.glob(pattern) if path.is_file()):
            found.update(str(path.relative_to(CHECKOUT)).encode() + path.read_bytes())
    return f"touchstone {found.hexdigest()[:16]}"


def _remembered(connection: psycopg.Connection) -> str | None:
    row = connection.execute(READ).fetchone()
    return str(row[0]) if row and row[0] else None


def _remember(connection: psycopg.Connection, digest: str) -> None:
    """Leave a note at the database itself: it goes where the database goes, and away with it."""
    try:
        connection.execute(DONE.format(sql.Identifier(connection.info.dbname), sql.Literal(digest)))
    except psycopg.errors.InsufficientPrivilege:
        return  # an outside database whose owner we are not: we look again at every start


def _credentials_name(var: Path, url: str) -> bool:
    path = var / "demo.env"
    return path.exists() and f"TOUCHSTONE_URL={url}\n" in path.read_text()


def _manage(*command: str) -> None:
    child = children.start([sys.executable, CHECKOUT / "manage.py", *command])
    try:
        if child.wait():
            raise PreparationError(f"manage.py {command[0]} failed")
    finally:
        children.stop(child)
