"""The processes of the site: one table, started in order, started again when they die, stopped in reverse."""

from __future__ import annotations

import os
import selectors
import signal
import subprocess
import sys
import time
from collections.abc import Callable, Sequence
from contextlib import suppress
from dataclasses import dataclass, field

from config.stack import children

LONGEST_PAUSE_S = 10.0
MORE = {"judge": ("notices",)}
COLOURS = ("36", "35", "33", "32", "34", "31")
Launch = Callable[[], "subprocess.Popen[bytes]"]


@dataclass(frozen=True, slots=True)
class Process:
    """One process of the site."""

    name: str
    command: Sequence[str]


def site(port: int, host: str = "127.0.0.1") -> list[Process]:
    """List the processes that a site needs to be ready."""
    return [web(port, host), worker("judge"), worker("clock", "-B")]


def heavy() -> list[Process]:
    """List the workers of long work, which start once the site is ready: they load networks and compilers."""
    return [worker("infer"), worker("prefetch"), worker("train")]


def web(port: int, host: str = "127.0.0.1") -> Process:
    """Describe the web process; Uvicorn keeps one worker, so that its caches are asked once."""
    command = [sys.executable, "-m", "uvicorn", "config.asgi:application", "--host", host, "--port", str(port)]
    return Process("web", [*command, "--log-level", "warning", "--timeout-graceful-shutdown", "5"])


def worker(queue: str, *options: str) -> Process:
    """Describe a Celery worker of one process; it serves its queue and, in turn, those of MORE."""
    queues = ",".join((queue, *MORE.get(queue, ())))
    command = [sys.executable, "-m", "celery", "-q", "-A", "config.celery", "worker", "-Q", queues, "-n", f"{queue}@%h"]
    quiet = ["--without-gossip", "--without-mingle", "--loglevel", "WARNING"]
    return Process(queue, [*command, "-P", "solo", *quiet, *options])


@dataclass(slots=True)
class Watched:
    """A running process and how often it died lately; a server is stopped by its own class."""

    name: str
    launch: Launch
    child: subprocess.Popen[bytes]
    server: bool
    pause_s: float = 0.5
    started: float = field(default_factory=time.monotonic)
    again_at: float = 0.0


class Supervisor:
    """Keep processes running until told to stop, and print their lines under their names."""

    def __init__(self) -> None:
        self.watched: list[Watched] = []
        self._pipes = selectors.DefaultSelector()
        self._unfinished: dict[int, bytes] = {}

    def watch(self, name: str, launch: Launch, child: subprocess.Popen[bytes] | None) -> None:
        """Watch a server, which was started already."""
        self.watched.append(Watched(name, launch, child or launch(), server=True))

    def start(self, process: Process) -> None:
        """Start a process and watch it."""

        def launch() -> subprocess.Popen[bytes]:
            child = children.start(process.command, output=subprocess.PIPE)
            if child.stdout is not None:
                os.set_blocking(child.stdout.fileno(), False)
                self._pipes.register(child.stdout, selectors.EVENT_READ, process.name)
            return child

        self.watched.append(Watched(process.name, launch, launch(), server=False))

    def tend(self, seconds: float = 0.2) -> None:
        """Print for a while what the processes say, then start again what died."""
        self._listen(seconds)
        for one in self.watched:
            if children.ended(one.child):
                self._revive(one)
        children.collect_orphans({one.child.pid for one in self.watched})

    def stop(self, patience_s: float = 10) -> None:
        """Stop the site's processes: first the web, which takes new work, then the others all at once."""
        ours = [one.child for one in self.watched if not one.server]
        for group in (ours[:1], ours[1:]):
            deadline = time.monotonic() + patience_s
            for child in group:
                if not children.ended(child):
                    child.terminate()
            while not all(children.ended(child) for child in group) and time.monotonic() < deadline:
                self._listen(0.05)
            for child in group:
                children.stop(child, signal.SIGKILL)
        self._listen(0)

    def say(self, line: str, name: str = "touchstone") -> None:
        """Print a line under a name."""
        colour = COLOURS[sum(name.encode()) % len(COLOURS)]
        label = f"\x1b[{colour}m{name:>10}\x1b[0m" if sys.stdout.isatty() else f"{name:>10}"
        with suppress(BrokenPipeError):  # nobody reads any more
            print(f"{label} | {line}", flush=True)

    def _revive(self, one: Watched) -> None:
        now = time.monotonic()
        if not one.again_at:
            one.pause_s = 0.5 if now - one.started > 60 else min(one.pause_s * 2, LONGEST_PAUSE_S)
            one.again_at = now + one.pause_s
            self.say(f"{one.name} ended with {one.child.returncode}; it starts again in {one.pause_s:g} s")
        elif now >= one.again_at:
            try:
                one.child = one.launch()
            except Exception as problem:  # one part that cannot start must not end the others
                one.again_at = now + LONGEST_PAUSE_S
                self.say(f"{one.name} cannot start: {problem}")
            else:
                one.again_at, one.started = 0.0, now

    def _listen(self, seconds: float) -> None:
        """Print what comes within some seconds; returns early when something came."""
        if not self._pipes.get_map():
            time.sleep(seconds)
            return
        for key, _ in self._pipes.select(seconds):
            said = os.read(key.fd, 65_536)
            *lines, rest = (self._unfinished.pop(key.fd, b"") + said).split(b"\n")
            if said:
                self._unfinished[key.fd] = rest
            else:
                lines.append(rest)
                self._pipes.unregister(key.fileobj)
                key.fileobj.close()  # type: ignore[union-attr]  # it is the pipe we registered
            for line in lines:
                if line.strip():
                    self.say(line.decode(errors="replace").rstrip(), key.data)
