"""The processes of the site: one table, started in order, started again when they die, stopped in reverse."""

from __future__ import annotations

import subprocess
import sys
import threading
import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from pathlib import Path

from config.stack import children

LONGEST_PAUSE_S = 10.0
COLOURS = ("36", "35", "33", "32", "34", "31")


@dataclass(frozen=True, slots=True)
class Process:
    """One process of the site."""

    name: str
    command: Sequence[str]


def site(port: int, host: str = "127.0.0.1") -> list[Process]:
    """List the processes of the site."""
    python = sys.executable
    web = [python, "-m", "uvicorn", "config.asgi:application", "--host", host, "--port", str(port)]
    return [
        Process("web", [*web, "--log-level", "warning", "--timeout-graceful-shutdown", "5"]),
        worker("judge"),
        worker("clock", "-B"),
    ]


def worker(queue: str, *options: str) -> Process:
    """Describe a Celery worker that serves one queue with one process."""
    command = [sys.executable, "-m", "celery", "-q", "-A", "config.celery", "worker", "-Q", queue, "-n", f"{queue}@%h"]
    quiet = ["--without-gossip", "--without-mingle", "--loglevel", "WARNING"]
    return Process(queue, [*command, "-P", "solo", *quiet, *options])


@dataclass(slots=True)
class Watched:
    """A running process and how often it died lately; a server is stopped by its own class."""

    name: str
    launch: Callable[[], subprocess.Popen[bytes]]
    child: subprocess.Popen[bytes]
    pause_s: float = 0.5
    started: float = field(default_factory=time.monotonic)
    again_at: float = 0.0
    server: bool = False


class Supervisor:
    """Keep processes running until told to stop."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        self.watched: list[Watched] = []
        self._printing = threading.Lock()

    def watch(self, name: str, launch: Callable[[], subprocess.Popen[bytes]], child: subprocess.Popen[bytes]) -> None:
        """Watch a server that is already running."""
        self.watched.append(Watched(name, launch, child, server=True))

    def start(self, process: Process) -> None:
        """Start a process, print its lines under its name, and watch it."""

        def launch() -> subprocess.Popen[bytes]:
            child = children.start(process.command, output=subprocess.PIPE)
            threading.Thread(target=self._print, args=(process.name, child), daemon=True).start()
            return child

        self.watched.append(Watched(process.name, launch, launch()))

    def tend(self) -> None:
        """Start again what died, a little later each time it dies soon."""
        now = time.monotonic()
        for one in self.watched:
            if one.child.poll() is None:
                continue
            if not one.again_at:
                one.pause_s = 0.5 if now - one.started > 60 else min(one.pause_s * 2, LONGEST_PAUSE_S)
                one.again_at = now + one.pause_s
                self.say(f"{one.name} ended with {one.child.returncode}; it starts again in {one.pause_s:.0f} s")
            elif now >= one.again_at:
                one.child, one.started, one.again_at = one.launch(), now, 0.0

    def stop(self) -> None:
        """Ask the site's processes to end, all at once, and wait for each."""
        ours = [one.child for one in self.watched if not one.server]
        for child in ours:
            if child.poll() is None:
                child.terminate()
        for child in ours:
            children.stop(child)

    def say(self, line: str, name: str = "touchstone") -> None:
        """Print a line under a name."""
        colour = COLOURS[sum(name.encode()) % len(COLOURS)]
        with self._printing:
            label = f"\x1b[{colour}m{name:>10}\x1b[0m" if sys.stdout.isatty() else f"{name:>10}"
            print(f"{label} | {line}", flush=True)

    def _print(self, name: str, child: subprocess.Popen[bytes]) -> None:
        if child.stdout is not None:
            for line in child.stdout:
                self.say(line.decode(errors="replace").rstrip(), name)
