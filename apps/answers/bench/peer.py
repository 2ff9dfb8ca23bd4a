"""GPTCache in an environment of its own, driven over a pipe; without it the benchmark says so and goes on."""

from __future__ import annotations

import json
import subprocess
import sys
import sysconfig
import venv
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from django.conf import settings

PACKAGES = ("gptcache==0.1.44", "faiss-cpu==1.14.2", "cachetools==6.2.2", "SQLAlchemy==2.0.44", "requests==2.34.2")
PROGRAM = Path(__file__).with_name("gptcache_peer.py")


class Peer:
    """A running GPTCache."""

    def __init__(self, child: subprocess.Popen[str]) -> None:
        self.child = child

    def ask(self, question: str) -> tuple[float, float]:
        """Ask one question; returns (milliseconds in all, milliseconds of them for embedding)."""
        reply = self.call({"ask": question})
        return float(reply["ms"]), float(reply["embed_ms"])

    def call(self, message: dict[str, Any]) -> dict[str, Any]:
        """Send a message and read the reply."""
        assert self.child.stdin is not None
        assert self.child.stdout is not None
        self.child.stdin.write(json.dumps(message) + "\n")
        self.child.stdin.flush()
        return dict(json.loads(self.child.stdout.readline()))


@contextmanager
def started(texts: Sequence[str], vectors: Any, say: Callable[[str], None]) -> Iterator[Peer | None]:
    """Run GPTCache over the same questions and vectors; None when it cannot be had."""
    python = _environment(say)
    if python is None:
        yield None
        return
    folder = settings.VAR / "gptcache"
    command = [str(python), str(PROGRAM), str(folder)]
    with subprocess.Popen(  # noqa: S603 - our own program
        command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, text=True
    ) as child:
        peer = Peer(child)
        try:
            peer.call({"fill": [list(texts), [vector.tolist() for vector in vectors]]})
            yield peer
        except ValueError:
            say("GPTCache did not start; it is left out")
            yield None
        finally:
            child.kill()


def _environment(say: Callable[[str], None]) -> Path | None:
    """Make the environment once; it sees our packages, so that both embed with the same code."""
    home = Path(__file__).resolve().parents[3] / "var" / "bench" / "gptcache-venv"
    python = home / "bin" / "python"
    if (home / "ready").exists():
        return python
    say("making an environment for GPTCache")
    venv.create(home, with_pip=False, clear=True)
    site = next((home / "lib").glob("python3*/site-packages"))
    (site / "ours.pth").write_text(
        sysconfig.get_paths()["purelib"] + "\n" + str(Path(__file__).resolve().parents[3]) + "\n"
    )
    command = [sys.executable, "-m", "pip", "install", "--quiet", "--no-deps", "--target", str(site), *PACKAGES]
    done = subprocess.run(command, check=False, capture_output=True, text=True)  # noqa: S603 - our own command
    if done.returncode != 0:
        say(f"GPTCache cannot be installed here; it is left out ({done.stderr.strip().splitlines()[-1:]})")
        return None
    (home / "ready").touch()
    return python
