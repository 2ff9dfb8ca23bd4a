"""Say whether the site is alive and whether it is ready, and which part is not."""

from __future__ import annotations

import logging
import time
from collections.abc import Callable

import redis
from django.db import DatabaseError, connection

from apps.access import services as access

log = logging.getLogger(__name__)
BEATS_S = 90
Check = Callable[[], str]
_checks: dict[str, Check] = {}


def register_check(name: str, check: Check) -> None:
    """Add a part that must work for the site to be ready; the check says what is wrong, or nothing."""
    _checks[name] = check


def heartbeat(worker: str) -> None:
    """Say that a worker lives; it is believed for a minute and a half."""
    try:
        access.valkey().set(f"touchstone:beat:{worker}", int(time.time()), ex=BEATS_S)
    except redis.RedisError:
        log.warning("Valkey does not take heartbeats")


def readiness() -> dict[str, str]:
    """Name each needed part and what is wrong with it; empty text means it works."""
    parts = {"database": _database, "valkey": _valkey, "workers": _workers, **_checks}
    return {name: _safely(check) for name, check in parts.items()}


def _safely(check: Check) -> str:
    try:
        return check()
    except Exception as problem:  # a broken part must not break the page that says so
        return f"{type(problem).__name__}: {problem}"[:200]


def _database() -> str:
    try:
        with connection.cursor() as cursor:
            cursor.execute("SELECT 1")
    except DatabaseError as problem:
        return f"does not answer: {problem}"[:200]
    return ""


def _valkey() -> str:
    access.valkey().ping()
    return ""


def _workers() -> str:
    names = ("clock", "judge")
    missing = [name for name in names if not access.valkey().exists(f"touchstone:beat:{name}")]
    return f"no sign of life from {', '.join(missing)}" if missing else ""
