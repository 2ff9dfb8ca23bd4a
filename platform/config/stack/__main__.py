"""`python -m config.stack`: bring everything up on this machine and keep it up until Ctrl-C."""

from __future__ import annotations

import fcntl
import os
import signal
import socket
import sys
import time
import urllib.error
import urllib.request
from pathlib import Path
from types import FrameType

from config import environment
from config.stack import children, preparation
from config.stack.postgres import Postgres, PostgresError
from config.stack.processes import Supervisor, heavy, site
from config.stack.sockets import SocketError
from config.stack.valkey import Valkey, ValkeyError

PATIENCE_S = 60.0
LOCAL = {"0.0.0.0": "127.0.0.1", "::": "[::1]", "::1": "[::1]"}  # noqa: S104 - only to print an address
STOP = (signal.SIGINT, signal.SIGTERM, signal.SIGHUP)
PROBLEMS = (PostgresError, ValkeyError, SocketError, preparation.PreparationError, environment.EnvironmentProblem)


class Interrupted(Exception):
    """Somebody asked us to stop."""


class Stack:
    """Everything that `make up` runs: two servers and the site's processes."""

    def __init__(self, var: Path, host: str, port: int) -> None:
        self.var, self.host, self.port = var, host, port
        self.url = f"http://{LOCAL.get(host, host)}:{port}"
        self.supervisor, self.postgres, self.valkey = Supervisor(), Postgres(var), Valkey(var)

    def start(self) -> None:
        """Start everything and wait until the site is ready."""
        began = time.monotonic()
        os.environ.update(TOUCHSTONE_VAR=str(self.var), CELERY_BEAT_SCHEDULE=str(self.var / "celerybeat-schedule"))
        self._start_servers()
        preparation.prepare(self.var, self.url)
        for process in site(self.port, self.host):
            self.supervisor.start(process)
        if self._becomes_ready():
            self.supervisor.say(f"ready in {time.monotonic() - began:.1f} s at {self.url}")
        else:
            self.supervisor.say(f"not ready after {PATIENCE_S:.0f} s; {self.url}/readyz says why")
        for process in heavy():
            self.supervisor.start(process)
        self.supervisor.say(f"sign in at {self.url}/admin/ with the name and password in {self.var / 'demo.env'}")
        self.supervisor.say("Ctrl-C stops everything")

    def stop(self) -> None:
        """Stop everything, in reverse."""
        self.supervisor.stop()
        self.valkey.stop()
        self.postgres.stop()
        children.end_rest()

    def _start_servers(self) -> None:
        """Start PostgreSQL and Valkey here, unless the environment names outside ones."""
        ours: dict[str, Postgres | Valkey] = {"DATABASE_URL": self.postgres, "VALKEY_URL": self.valkey}
        servers = {name: server for name, server in ours.items() if name not in os.environ}
        for name, server in servers.items():
            os.environ[name] = server.url
            server.launch()
        for server in servers.values():
            server.wait()
            self.supervisor.watch(type(server).__name__.lower(), server.launch, server.child)

    def _becomes_ready(self) -> bool:
        deadline = time.monotonic() + PATIENCE_S
        while time.monotonic() < deadline:
            self.supervisor.tend(0.1)
            try:
                with urllib.request.urlopen(f"{self.url}/readyz", timeout=2):  # noqa: S310 - our own address
                    return True
            except (urllib.error.URLError, OSError):
                continue
        return False


def main() -> int:
    """Bring the stack up; a second call while one runs says so and does nothing."""
    try:
        stack = _from_environment()
    except environment.EnvironmentProblem as problem:
        print(problem, file=sys.stderr)
        return 1
    stack.var.mkdir(parents=True, exist_ok=True)
    with (stack.var / "up.lock").open("a+") as lock:
        try:
            fcntl.flock(lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError:
            lock.seek(0)
            print(f"Touchstone is already running at {lock.read().strip() or stack.url}")
            return 0
        lock.truncate(0)
        lock.write(stack.url)
        lock.flush()
        return _keep_up(stack)


def _from_environment() -> Stack:
    checkout = Path(__file__).resolve().parents[3]
    var = Path(environment.text("TOUCHSTONE_VAR", str(checkout / "var"))).resolve()
    return Stack(var, environment.text("HOST", "127.0.0.1"), environment.integer("PORT", 8000))


def _keep_up(stack: Stack) -> int:
    for number in STOP:
        signal.signal(number, _interrupt)
    children.adopt_orphans()
    try:
        _claim(stack.host, stack.port)
        stack.start()
        while True:
            stack.supervisor.tend()
    except Interrupted:
        stack.supervisor.say("stopping")
        return 0
    except PROBLEMS as problem:
        stack.supervisor.say(str(problem))
        return 1
    finally:
        _ignore_signals()
        stack.stop()


def _claim(host: str, port: int) -> None:
    """Make sure that nobody else listens there: their answers would be taken for ours."""
    with socket.socket(socket.AF_INET6 if ":" in host else socket.AF_INET) as probe:
        probe.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        try:
            probe.bind((host, port))
        except OSError as problem:
            reason = f"cannot listen on port {port} ({problem.strerror}); choose another one: PORT=8001 make up"
            raise environment.EnvironmentProblem(reason) from None


def _interrupt(number: int, frame: FrameType | None) -> None:
    _ignore_signals()
    raise Interrupted


def _ignore_signals() -> None:
    for number in STOP:
        signal.signal(number, signal.SIG_IGN)


if __name__ == "__main__":
    sys.exit(main())
