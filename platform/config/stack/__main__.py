"""`python -m config.stack`: bring everything up on this machine and keep it up until Ctrl-C."""

from __future__ import annotations

import fcntl
import os
import signal
import sys
import time
import urllib.error
import urllib.request
from pathlib import Path
from types import FrameType

from config import environment
from config.stack.postgres import Postgres
from config.stack.processes import Supervisor, site
from config.stack.valkey import Valkey

PATIENCE_S = 60.0


class Interrupted(Exception):
    """Somebody asked us to stop."""


def main() -> int:
    """Bring the stack up; a second call while one runs says so and does nothing."""
    began = time.monotonic()
    checkout = Path(__file__).resolve().parents[3]
    var = Path(environment.text("TOUCHSTONE_VAR", str(checkout / "var"))).resolve()
    url = f"http://127.0.0.1:{environment.integer('PORT', 8000)}"
    var.mkdir(parents=True, exist_ok=True)
    lock = (var / "up.lock").open("a+")
    try:
        fcntl.flock(lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except BlockingIOError:
        lock.seek(0)
        print(f"Touchstone is already running at {lock.read().strip() or url}")
        return 0
    lock.truncate(0)
    lock.write(url)
    lock.flush()
    return _run(var, url, began)


def _run(var: Path, url: str, began: float) -> int:
    for name in (signal.SIGINT, signal.SIGTERM, signal.SIGHUP):
        signal.signal(name, _interrupt)
    os.environ.update(TOUCHSTONE_VAR=str(var), CELERY_BEAT_SCHEDULE=str(var / "celerybeat-schedule"))
    supervisor, postgres, valkey = Supervisor(var), Postgres(var), Valkey(var)
    try:
        _services(supervisor, postgres, valkey)
        _prepare_site()
        for process in site(environment.integer("PORT", 8000), environment.text("HOST", "127.0.0.1")):
            supervisor.start(process)
        _wait_until_ready(supervisor, url)
        _welcome(supervisor, var, url, time.monotonic() - began)
        while True:
            supervisor.tend()
            time.sleep(0.2)
    except Interrupted:
        supervisor.say("stopping")
        return 0
    finally:
        for name in (signal.SIGINT, signal.SIGTERM, signal.SIGHUP):
            signal.signal(name, signal.SIG_IGN)
        supervisor.stop()
        valkey.stop()
        postgres.stop()


def _interrupt(number: int, frame: FrameType | None) -> None:
    raise Interrupted


def _services(supervisor: Supervisor, postgres: Postgres, valkey: Valkey) -> None:
    """Start PostgreSQL and Valkey here, unless the environment names outside ones."""
    embedded_valkey = "VALKEY_URL" not in os.environ
    if embedded_valkey:
        os.environ["VALKEY_URL"] = valkey.url
        valkey.launch()
    if "DATABASE_URL" not in os.environ:
        os.environ["DATABASE_URL"] = postgres.url
        postgres.start()
        assert postgres.child is not None
        supervisor.watch("postgres", postgres.launch, postgres.child)
    if embedded_valkey:
        valkey.wait(15)
        assert valkey.child is not None
        supervisor.watch("valkey", valkey.launch, valkey.child)


def _prepare_site() -> None:
    """Apply migrations where some are missing, and make the sample workspace on first start."""
    os.environ.setdefault("DJANGO_SETTINGS_MODULE", "config.settings")
    import django
    from django.core.management import call_command
    from django.db import connection
    from django.db.migrations.executor import MigrationExecutor

    django.setup()
    executor = MigrationExecutor(connection)
    if executor.migration_plan(executor.loader.graph.leaf_nodes()):
        call_command("migrate", verbosity=0, interactive=False)
    call_command("sample")
    connection.close()


def _wait_until_ready(supervisor: Supervisor, url: str) -> None:
    deadline = time.monotonic() + PATIENCE_S
    while time.monotonic() < deadline:
        supervisor.tend()
        try:
            with urllib.request.urlopen(f"{url}/readyz", timeout=2):  # noqa: S310 - our own address
                return
        except (urllib.error.URLError, OSError):
            time.sleep(0.05)
    supervisor.say(f"not ready after {PATIENCE_S:.0f} s; {url}/readyz says why")


def _welcome(supervisor: Supervisor, var: Path, url: str, seconds: float) -> None:
    supervisor.say(f"ready in {seconds:.1f} s at {url}")
    supervisor.say(f"sign in at {url}/admin/ with the name and password in {var / 'demo.env'}")
    supervisor.say("Ctrl-C stops everything")


if __name__ == "__main__":
    sys.exit(main())
