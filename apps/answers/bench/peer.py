"""GPTCache in an environment of its own, driven over a pipe; without it the benchmark says so and goes on."""

from __future__ import annotations

import json
import shutil
import subprocess
import sys
import sysconfig
import venv
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import numpy as np
from django.conf import settings

from apps.answers.bench.client import Reply
from apps.answers.bench.questions import Pool

PACKAGES = ("gptcache==0.1.44", "faiss-cpu==1.14.2", "cachetools==6.2.2", "SQLAlchemy==2.0.44", "requests==2.34.2")
PROGRAM = Path(__file__).with_name("gptcache_peer.py")
CHECKOUT = Path(__file__).resolve().parents[3]
Say = Callable[[str], None]


class Peer:
    """A running GPTCache."""

    def __init__(self, child: subprocess.Popen[str]) -> None:
        self.child = child

    def ask(self, question: str) -> Reply:
        """Ask one question; a hit counts as one of the dynamic tier, for there is no other."""
        assert self.child.stdin is not None
        self.child.stdin.write(json.dumps({"ask": question}) + "\n")
        self.child.stdin.flush()
        reply = self.read()
        return Reply(reply["ms"], reply["embed_ms"], "dynamic_hit" if reply["hit"] else "miss")

    def read(self) -> dict[str, Any]:
        """Read one line.

        Raises:
            ValueError: the program ended.
        """
        assert self.child.stdout is not None
        return dict(json.loads(self.child.stdout.readline()))


@contextmanager
def started(known: Pool, entries: int, say: Say) -> Iterator[Peer | None]:
    """Run GPTCache over the same questions and vectors; None when it cannot be had."""
    python = _environment(say)
    if python is None:
        yield None
        return
    folder = settings.VAR / "gptcache"
    _hand_over(known, entries, folder)
    command = [str(python), "-P", str(PROGRAM), str(folder)]  # -P: no module beside the program is meant
    with (folder / "log").open("w") as log:
        child = subprocess.Popen(  # noqa: S603 - our own program
            command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=log, text=True
        )
    with child:
        peer = Peer(child)
        try:
            yield peer if _filled(peer, folder, say) else None
        finally:
            child.kill()
    shutil.rmtree(folder, ignore_errors=True)


def _hand_over(known: Pool, entries: int, folder: Path) -> None:
    shutil.rmtree(folder, ignore_errors=True)
    folder.mkdir(parents=True)
    own, (fillers, cloud) = known.store(entries), known.filler(entries)
    (folder / "questions.json").write_text(json.dumps([*known.texts[:own], *fillers]))
    np.save(folder / "vectors.npy", np.concatenate([known.vectors[:own], cloud]))


def _filled(peer: Peer, folder: Path, say: Say) -> bool:
    try:
        peer.read()
    except ValueError:
        last = (folder / "log").read_text().strip().splitlines()[-1:]
        say(f"GPTCache did not start; it is left out {last}")
        return False
    return True


def _environment(say: Say) -> Path | None:
    """Make the environment once; it sees our packages, so that both embed with the same code."""
    home = CHECKOUT / "var" / "bench" / "gptcache-venv"
    python = home / "bin" / "python"
    if (home / "ready").exists() and (home / "ready").read_text() == "\n".join(PACKAGES):
        return python
    say("making an environment for GPTCache")
    venv.create(home, with_pip=False, clear=True)
    site = next((home / "lib").glob("python3*/site-packages"))
    (site / "ours.pth").write_text(f"{sysconfig.get_paths()['purelib']}\n{CHECKOUT}\n")
    command = [sys.executable, "-m", "pip", "install", "--quiet", "--no-deps", "--target", str(site), *PACKAGES]
    done = subprocess.run(command, check=False, capture_output=True, text=True)  # noqa: S603 - our own command
    if done.returncode != 0:
        say(f"GPTCache cannot be installed here; it is left out {done.stderr.strip().splitlines()[-1:]}")
        return None
    (home / "ready").write_text("\n".join(PACKAGES))
    return python
