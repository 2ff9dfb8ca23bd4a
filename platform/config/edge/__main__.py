"""`python -m config.edge`: run nginx and its agent before the running platform, until Ctrl-C."""

from __future__ import annotations

import os
import signal
import sys
from contextlib import suppress
from pathlib import Path
from types import FrameType

from config import environment
from config.edge.nginx import EdgeError, Nginx, Shape
from config.stack.processes import Process, Supervisor
from config.stack.sockets import SocketError
from workers.edge import settings

STOP = (signal.SIGINT, signal.SIGTERM, signal.SIGHUP)
PROBLEMS = (EdgeError, SocketError, environment.EnvironmentProblem, settings.SettingsProblem, OSError)


class Interrupted(Exception):
    """Somebody asked us to stop."""


def main() -> int:
    """Bring the edge up and keep it up."""
    for number in STOP:
        signal.signal(number, _interrupt)
    supervisor, nginx = Supervisor(), None
    try:
        nginx = Nginx(shape())
        start(nginx, supervisor)
        while True:
            supervisor.tend()
    except Interrupted:
        supervisor.say("stopping", "edge")
        return 0
    except PROBLEMS as problem:
        supervisor.say(str(problem), "edge")
        return 1
    finally:
        for number in STOP:
            signal.signal(number, signal.SIG_IGN)
        supervisor.stop()
        if nginx is not None:
            nginx.stop()


def shape() -> Shape:
    """Read the edge's settings; the platform's address and key come from var/demo.env where nothing else says."""
    var = Path(environment.text("TOUCHSTONE_VAR", str(Path(__file__).resolve().parents[3] / "var"))).resolve()
    adopt(var / "demo.env")
    platform = environment.text("TOUCHSTONE_URL", "http://127.0.0.1:8000")
    os.environ.setdefault("TOUCHSTONE_URL", platform)
    name = environment.text("EDGE_NAME", "edge")
    return Shape(
        folder=Path(environment.text("EDGE_FOLDER", str(var / name))).resolve(),
        origin=environment.text("EDGE_ORIGIN", platform).rstrip("/"),
        host=environment.text("EDGE_HOST", "127.0.0.1"),
        port=environment.integer("EDGE_PORT", 8080),
        name=name,
        capacity=settings.size(environment.text("EDGE_CAPACITY", "10g")),
        pin_share=float(environment.text("EDGE_PIN_SHARE", "0.05")),
        prefixes=tuple(environment.text("EDGE_PREFIXES", "/media/").split(",")),
        workers=environment.integer("EDGE_WORKERS", 1),
    )


def adopt(path: Path) -> None:
    """Take from a file what the environment does not say."""
    with suppress(OSError):
        for line in path.read_text().splitlines():
            name, is_set, value = line.partition("=")
            if is_set and name.strip().startswith("TOUCHSTONE_"):
                os.environ.setdefault(name.strip(), value.strip().strip("'\""))


def start(nginx: Nginx, supervisor: Supervisor) -> None:
    """Start nginx, then the agent; either is started again when it dies, and the other does not notice."""
    nginx.launch()
    nginx.wait()
    supervisor.watch("nginx", nginx.launch, nginx.child)
    shape = nginx.shape
    os.environ.update(
        EDGE_FOLDER=str(shape.folder),
        EDGE_URL=shape.url,
        EDGE_TOKEN=nginx.token,
        EDGE_NAME=shape.name,
        EDGE_ORIGIN=shape.origin,
        EDGE_CAPACITY=str(shape.capacity),
    )
    supervisor.start(Process("agent", [sys.executable, "-m", "workers.edge"]))
    supervisor.say(f"serving {', '.join(shape.prefixes)} of {shape.origin} at {shape.url}", "edge")
    supervisor.say("Ctrl-C stops it", "edge")


def _interrupt(number: int, frame: FrameType | None) -> None:
    raise Interrupted


if __name__ == "__main__":
    sys.exit(main())
