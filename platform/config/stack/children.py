"""Start children that can never outlive their parent, and run as root what refuses to be root."""

from __future__ import annotations

import ctypes
import os
import signal
import subprocess
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import IO

PR_SET_PDEATHSIG = 1
CLONE_NEWUSER = 0x10000000
LIBC = ctypes.CDLL(None, use_errno=True)
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
    not_root: bool = False,
) -> subprocess.Popen[bytes]:
    """Start a child in its own session; the kernel sends it `last_signal` when this process dies."""
    return subprocess.Popen(  # noqa: S603 - our own commands
        [str(part) for part in command],
        stdin=subprocess.DEVNULL,
        stdout=output,
        stderr=subprocess.STDOUT if output is not None else None,
        env={**os.environ, **ONE_THREAD, **CALM, **(environment or {})},
        start_new_session=True,
        preexec_fn=_before_exec(last_signal, not_root and os.geteuid() == 0),  # noqa: PLW1509 - only system calls
    )


def stop(child: subprocess.Popen[bytes], how: signal.Signals = signal.SIGTERM, patience_s: float = 10) -> None:
    """Ask a child to end, then make it."""
    if child.poll() is not None:
        return
    child.send_signal(how)
    try:
        child.wait(patience_s)
    except subprocess.TimeoutExpired:
        child.kill()
        child.wait()


def _before_exec(last_signal: signal.Signals, shed_root: bool) -> Callable[[], None]:
    def prepare() -> None:
        if shed_root:
            _shed_root()
        LIBC.prctl(PR_SET_PDEATHSIG, int(last_signal))

    return prepare


def _shed_root() -> None:
    """Enter a user namespace where this user is an ordinary one; files keep their owner.

    PostgreSQL refuses to run as root; this needs no second account and no change of ownership.
    """
    uid, gid = os.getuid(), os.getgid()
    if LIBC.unshare(CLONE_NEWUSER) != 0:
        raise OSError(ctypes.get_errno(), "user namespaces are not allowed here; run as an ordinary user")
    Path("/proc/self/setgroups").write_text("deny")
    Path("/proc/self/uid_map").write_text(f"1000 {uid} 1")
    Path("/proc/self/gid_map").write_text(f"1000 {gid} 1")
