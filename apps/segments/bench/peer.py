"""libcachesim (GPL) in an environment of its own, run as a process with a time-out; without it we go on alone."""

from __future__ import annotations

import shutil
import subprocess
import sys
import tempfile
import venv
from collections.abc import Callable
from pathlib import Path

import numpy as np

from apps.segments.core.simulator import Outcome, Trace
from apps.segments.core.simulator.outcome import plain

PACKAGE = "libcachesim==0.3.5"
PROGRAM = Path(__file__).with_name("libcachesim_peer.py")
HOME = Path(__file__).resolve().parents[3] / "var" / "bench" / "libcachesim-venv"
PEERS = {"ThreeLCache": "3lcache", "WTinyLFU": "wtinylfu_libcachesim", "LRU": "lru_libcachesim"}
TIMEOUT_S = 240.0
Say = Callable[[str], None]


def outcomes(trace: Trace, capacity: int, ours: Outcome | None, say: Say) -> dict[str, Outcome]:
    """Run the peers; their LRU only checks ours, if given, and must hit as often to three decimals."""
    found = {}
    for kind, name in PEERS.items():
        if kind == "LRU" and ours is None:
            continue
        say(f"{trace.name} {trace.seed}: libcachesim's {kind}")
        outcome = run(kind, trace, capacity, say)
        if outcome is None:
            continue
        if ours is None or kind != "LRU":
            found[name] = outcome
        elif round(float(outcome.hit.mean()), 3) != round(float(ours.hit.mean()), 3):
            raise ValueError(f"Our LRU hits {ours.hit.mean():.4f}, libcachesim's {outcome.hit.mean():.4f}.")
        else:
            say(f"our LRU hits {ours.hit.mean():.5f}, libcachesim's {outcome.hit.mean():.5f}")
    return found


def run(kind: str, trace: Trace, capacity: int, say: Say) -> Outcome | None:
    """Run one of libcachesim's caches over a trace; None when it cannot be had, breaks or is too slow."""
    python = environment(say)
    if python is None:
        return None
    folder = Path(tempfile.mkdtemp(prefix="peer-", dir=HOME.parent))
    try:
        np.savez(folder / "trace.npz", at=trace.at, row=trace.row, size=trace.catalogue.sizes[trace.row])
        command = [str(python), "-P", str(PROGRAM), str(folder), kind, str(capacity)]
        subprocess.run(command, check=True, capture_output=True, timeout=TIMEOUT_S)  # noqa: S603 - our own program
        done = np.load(folder / "hit.npz")
        return plain(done["hit"], float(done["took_s"]))
    except subprocess.TimeoutExpired:
        say(f"{kind} took more than {TIMEOUT_S:.0f} s; it is left out")
    except subprocess.CalledProcessError as problem:
        say(f"{kind} broke and is left out: {problem.stderr.decode().strip().splitlines()[-1:]}")
    finally:
        shutil.rmtree(folder, ignore_errors=True)
    return None


def environment(say: Say) -> Path | None:
    """Make the environment once; None when libcachesim cannot be installed here."""
    python = HOME / "bin" / "python"
    if (HOME / "ready").exists() and (HOME / "ready").read_text() == PACKAGE:
        return python
    say("making an environment for libcachesim")
    venv.create(HOME, with_pip=False, clear=True)
    site = next((HOME / "lib").glob("python3*/site-packages"))
    command = [sys.executable, "-m", "pip", "install", "--quiet", "--target", str(site), PACKAGE]
    done = subprocess.run(command, check=False, capture_output=True, text=True)  # noqa: S603 - our own command
    if done.returncode != 0:
        say(f"libcachesim cannot be installed here; it is left out {done.stderr.strip().splitlines()[-1:]}")
        return None
    (HOME / "ready").write_text(PACKAGE)
    return python
