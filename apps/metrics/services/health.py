"""Say whether the site is alive and whether it is ready, and which part is not."""

from __future__ import annotations

import logging
import time
from collections.abc import Callable, Sequence

import redis
from django.db import DatabaseError, connection

from apps.access import services as access

log = logging.getLogger(__name__)
BEATS_S = 90
WORKERS = ("clock", "judge")  # without these the site is not ready
HEAVY = ("infer", "prefetch", "train")  # without these long work waits
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
    except Exception as problem:  # a broken part must not break the page that says so, and the page is open to all
        log.warning("a part is not ready", exc_info=problem)
        return f"fails ({type(problem).__name__})"


def _database() -> str:
    try:
        with connection.cursor() as cursor:
            cursor.execute("SELECT 1")
    except DatabaseError as problem:
        log.warning("the database does not answer: %s", problem)
        return "does not answer"
    return ""


def _valkey() -> str:
    try:
        access.valkey().ping()
    except redis.RedisError as problem:
        log.warning("Valkey does not answer: %s", problem)
        return "does not answer"
    return ""


def silent_workers(names: Sequence[str] = WORKERS) -> list[str]:
    """Name the workers that have not been heard of lately; all of them when Valkey cannot say."""
    try:
        heard = access.valkey().mget([f"touchstone:beat:{name}" for name in names])
    except redis.RedisError:
        return list(names)
    return [name for name, beat in zip(names, heard, strict=True) if beat is None]


def _workers() -> str:
    silent = silent_workers()
    return f"no sign of life from {', '.join(silent)}" if silent else ""
