"""Start children that can never outlive their parent, and end them with all that they started."""

from __future__ import annotations

import ctypes
import os
import signal
import subprocess
import sys
import time
from collections.abc import Collection, Mapping, Sequence
from contextlib import suppress
from pathlib import Path
from typing import IO

PR_SET_CHILD_SUBREAPER = 36
LAUNCH = Path(__file__).with_name("launch.py")
# One BLAS or OpenMP thread per process: two of them on busy cores stall each other.
ONE_THREAD = {"OMP_NUM_THREADS": "1", "OPENBLAS_NUM_THREADS": "1", "MKL_NUM_THREADS": "1", "NUMBA_NUM_THREADS": "1"}
# Under root in a container celery would warn at every start.
CALM = {"PYTHONWARNINGS": "ignore:You're running the worker with superuser"}


def start(
    command: Sequence[str | Path],
    *,
    output: int | IO[bytes] | None = None,
    environment: Mapping[str, str] | None = None,
    last_signal: signal.Signals = signal.SIGTERM,
    ordinary: Sequence[Path] = (),
    keep_open: Sequence[int] = (),
) -> subprocess.Popen[bytes]:
    """Start a child in its own session; the kernel sends it `last_signal` when this process dies.

    A child given `ordinary` folders does not run as root, and owns them; it keeps the files `keep_open`.
    """
    launcher = [sys.executable, "-I", "-S", LAUNCH, os.getpid(), int(last_signal), *ordinary, "--"]
    return subprocess.Popen(  # noqa: S603 - our own commands
        [str(part) for part in (*launcher, *command)],
        stdin=subprocess.DEVNULL,
        stdout=output,
        stderr=subprocess.STDOUT if output is not None else None,
        env={**os.environ, **ONE_THREAD, **CALM, **(environment or {})},
        start_new_session=True,
        pass_fds=keep_open,
    )


def ended(child: subprocess.Popen[bytes]) -> bool:
    """Say whether a child has ended; what it started and left behind is ended too."""
    if child.returncode is None and os.waitid(os.P_PID, child.pid, os.WEXITED | os.WNOHANG | os.WNOWAIT) is not None:
        with suppress(ProcessLookupError, PermissionError):  # macOS does not allow it for a group of the dead
            os.killpg(child.pid, signal.SIGKILL)
    return child.poll() is not None


def stop(child: subprocess.Popen[bytes], how: signal.Signals = signal.SIGTERM, patience_s: float = 10) -> None:
    """Ask a child to end, then make it."""
    deadline = time.monotonic() + patience_s
    if not ended(child):
        child.send_signal(how)
    while not ended(child) and time.monotonic() < deadline:
        time.sleep(0.02)
    if child.returncode is None:
        os.killpg(child.pid, signal.SIGKILL)
        child.wait()


def adopt_orphans() -> None:
    """Become the parent of what our children leave behind, so that it can be found and ended; Linux only."""
    if sys.platform == "linux":
        ctypes.CDLL(None).prctl(PR_SET_CHILD_SUBREAPER, 1, 0, 0, 0)


def collect_orphans(ours: Collection[int]) -> None:
    """Collect the adopted that have ended; `ours` are the children whose own `Popen` asks for them."""
    with suppress(ChildProcessError):
        while (one := os.waitid(os.P_ALL, 0, os.WEXITED | os.WNOHANG | os.WNOWAIT)) and one.si_pid not in ours:
            os.waitpid(one.si_pid, os.WNOHANG)


def end_rest(patience_s: float = 5) -> None:
    """End every child that is still there: orphans, and one whose start was interrupted before anybody noted it.

    It collects them all, so it is for the very end, when nobody waits for a child of their own.
    """
    for how in (signal.SIGTERM, signal.SIGKILL):
        deadline = time.monotonic() + patience_s
        while _collect() and time.monotonic() < deadline:
            for pid in _living():
                with suppress(ProcessLookupError):
                    os.kill(pid, how)
            time.sleep(0.02)


def _collect() -> bool:
    """Collect the children that have ended; says whether others still live."""
    try:
        while os.waitpid(-1, os.WNOHANG)[0]:
            pass
    except ChildProcessError:
        return False
    return True


def _living() -> list[int]:
    found = []
    for stat in Path("/proc").glob("[0-9]*/stat"):
        with suppress(OSError):
            state, parent = stat.read_text().rpartition(")")[2].split()[:2]
            if int(parent) == os.getpid() and state != "Z":
                found.append(int(stat.parent.name))
    return found
