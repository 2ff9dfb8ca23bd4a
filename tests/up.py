"""`make up`, as a test drives it."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
from pathlib import Path

import httpx

from tests.conftest import free_port, wait_for

ROOT = Path(__file__).resolve().parents[1]
OURS = {"DATABASE_URL", "VALKEY_URL", "CELERY_BROKER_URL", "SECRET_KEY"}


class Up:
    """`make up` in a folder of its own."""

    def __init__(self, var: Path, port: int | None = None) -> None:
        self.var = var
        self.port = port or free_port()
        self.url = f"http://127.0.0.1:{self.port}"
        self.environment = {key: value for key, value in os.environ.items() if key not in OURS}
        self.environment |= {"TOUCHSTONE_VAR": str(var), "PORT": str(self.port)}
        self.path = var.parent / f"up-{self.port}.log"
        self.child = self.start()

    def start(self) -> subprocess.Popen[bytes]:
        """Run the command."""
        command = [sys.executable, "-m", "config.stack"]
        with self.path.open("ab") as log:
            self.child = subprocess.Popen(command, cwd=ROOT, env=self.environment, stdout=log, stderr=log)
        return self.child

    def wait_until_ready(self) -> None:
        """Wait for the site."""
        wait_for(self.ready, 180, self.log)

    def ready(self) -> bool:
        """Say whether the site is ready."""
        try:
            return httpx.get(f"{self.url}/readyz", timeout=5).status_code == 200
        except httpx.HTTPError:
            return False

    def log(self) -> str:
        """Read the end of what it printed."""
        return self.path.read_text()[-3_000:]

    def demo(self) -> dict[str, str]:
        """Read var/demo.env."""
        lines = (self.var / "demo.env").read_text().splitlines()
        return dict(line.split("=", 1) for line in lines if "=" in line)

    def processes(self, word: str = "") -> list[int]:
        """Find the processes of this folder whose command line holds a word."""
        found = []
        for folder in Path("/proc").iterdir():
            try:
                command = (folder / "cmdline").read_bytes().decode(errors="replace")
                mine = str(self.var) in (folder / "environ").read_bytes().decode(errors="replace")
            except (OSError, ValueError):
                continue
            if mine and word in command and int(folder.name) != self.child.pid:
                found.append(int(folder.name))
        return found

    def stop(self) -> None:
        """Ctrl-C."""
        if self.child.poll() is None:
            self.child.send_signal(signal.SIGINT)
            self.child.wait(60)
