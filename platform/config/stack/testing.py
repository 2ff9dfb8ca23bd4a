"""A pytest plugin: every run has its own var folder, PostgreSQL and Valkey, started when a test first needs them.

It is named on pytest's command line (see pyproject.toml) because settings are read before any conftest.
"""

from __future__ import annotations

import atexit
import os
import shutil
from functools import lru_cache
from pathlib import Path

from config.stack.postgres import Postgres
from config.stack.valkey import Valkey

RUNS = Path(__file__).resolve().parents[3] / "var" / "test"
VAR = RUNS / str(os.getpid())


@lru_cache(maxsize=1)
def postgres() -> Postgres:
    """Start this run's PostgreSQL once; it stops when the run ends."""
    server = Postgres(VAR, durable=False)
    atexit.register(server.stop)
    server.start()
    return server


@lru_cache(maxsize=1)
def valkey() -> Valkey:
    """Start this run's Valkey once; it stops when the run ends."""
    server = Valkey(VAR)
    atexit.register(server.stop)
    server.start()
    return server


def _begin() -> None:
    _sweep()
    VAR.mkdir(parents=True)
    atexit.register(shutil.rmtree, VAR, ignore_errors=True)
    os.environ.update(
        TOUCHSTONE_VAR=str(VAR),
        DATABASE_URL=Postgres(VAR).url,
        VALKEY_URL=Valkey(VAR).url,
        SECRET_KEY="for tests only",  # noqa: S106
        DJANGO_SETTINGS_MODULE="config.settings",
        OMP_NUM_THREADS="1",
        OPENBLAS_NUM_THREADS="1",
    )
    os.environ.pop("CELERY_BROKER_URL", None)


def _sweep() -> None:
    """Remove what killed runs left behind, one with this run's number too."""
    for folder in RUNS.iterdir() if RUNS.exists() else ():
        if folder == VAR or not _lives(folder.name):
            shutil.rmtree(folder, ignore_errors=True)


def _lives(name: str) -> bool:
    try:
        os.kill(int(name), 0)
    except (ValueError, ProcessLookupError):
        return False
    except PermissionError:
        pass  # somebody else's
    return True


_begin()
