"""Become a process that cannot outlive its parent and, where asked, is not root; then become the command.

Run by its path in an isolated interpreter: `launch.py PARENT SIGNAL [FOLDER...] -- COMMAND...`. With folders named,
root is shed and the folders are given to whom the command runs as. Being a program of its own, it needs no Python code
between fork and exec, which is not safe where threads run.
"""

from __future__ import annotations

import ctypes
import os
import pwd
import signal
import sys
from collections.abc import Sequence
from pathlib import Path

LINUX = sys.platform == "linux"
LIBC = ctypes.CDLL(None, use_errno=True)
PR_SET_PDEATHSIG, PR_SET_KEEPCAPS, PR_CAP_AMBIENT, PR_CAP_AMBIENT_RAISE = 1, 8, 47, 2
CLONE_NEWUSER = 0x10000000
CAP_DAC_OVERRIDE = 1
CAPABILITIES_VERSION_3 = 0x20080522


def main() -> None:
    """Run the command in this process."""
    split = sys.argv.index("--")
    parent, number, *folders = sys.argv[1:split]
    command = sys.argv[split + 1 :]
    if folders and os.geteuid() == 0:
        shed_root(folders)
    die_with(int(parent), signal.Signals(int(number)))
    os.execv(command[0], command)  # noqa: S606 - our own commands


def die_with(parent: int, number: signal.Signals) -> None:
    """Have the kernel send this process a signal when its parent dies; ends at once when it died already."""
    if LINUX:
        LIBC.prctl(PR_SET_PDEATHSIG, int(number), 0, 0, 0)
    if os.getppid() != parent:
        sys.exit("the parent is gone")


def shed_root(folders: Sequence[str]) -> None:
    """Stop being root, which PostgreSQL refuses to be.

    In a user namespace files keep their owner and nothing else changes. Where the system forbids namespaces, as
    containers often do, an existing account is used, which keeps one power of root's: to reach files in closed folders.
    """
    account = _account()
    if LINUX and _succeeds(account):
        _own(folders, os.getuid(), os.getgid())
        _enter_namespace(account)
    else:
        _own(folders, account.pw_uid, account.pw_gid)
        _become(account)


def _account() -> pwd.struct_passwd:
    """Choose an account that exists: initdb looks its name up."""
    others = [entry for entry in pwd.getpwall() if entry.pw_uid != 0]
    if not others:
        sys.exit("PostgreSQL refuses to run as root, and there is no other account here")
    return next((entry for entry in others if entry.pw_name == "nobody"), others[0])


def _succeeds(account: pwd.struct_passwd) -> bool:
    """Try the namespace in a process that ends."""
    probe = os.fork()
    if probe == 0:
        try:
            _enter_namespace(account)
        except OSError:
            os._exit(1)
        os._exit(0)
    return os.waitstatus_to_exitcode(os.waitpid(probe, 0)[1]) == 0


def _enter_namespace(account: pwd.struct_passwd) -> None:
    uid, gid = os.getuid(), os.getgid()
    if LIBC.unshare(CLONE_NEWUSER) != 0:
        raise OSError(ctypes.get_errno(), "user namespaces are not allowed here")
    Path("/proc/self/setgroups").write_text("deny")
    Path("/proc/self/uid_map").write_text(f"{account.pw_uid} {uid} 1")
    Path("/proc/self/gid_map").write_text(f"{account.pw_gid} {gid} 1")


def _become(account: pwd.struct_passwd) -> None:
    if LINUX:
        LIBC.prctl(PR_SET_KEEPCAPS, 1, 0, 0, 0)
    os.setgroups([])
    os.setgid(account.pw_gid)
    os.setuid(account.pw_uid)
    if LINUX:
        _keep(CAP_DAC_OVERRIDE)


def _keep(capability: int) -> None:
    """Keep one power of root's over the exec that follows; without it the checkout must be readable for everybody."""
    mask = 1 << capability
    header = (ctypes.c_uint32 * 2)(CAPABILITIES_VERSION_3, 0)
    sets = (ctypes.c_uint32 * 6)(mask, mask, mask, 0, 0, 0)  # effective, permitted, inheritable; low word, high word
    LIBC.capset(header, sets)
    LIBC.prctl(PR_CAP_AMBIENT, PR_CAP_AMBIENT_RAISE, capability, 0, 0)


def _own(folders: Sequence[str], uid: int, gid: int) -> None:
    for top in folders:
        if os.stat(top).st_uid != uid:
            for folder, _, files in os.walk(top):
                for path in (folder, *(os.path.join(folder, name) for name in files)):
                    os.chown(path, uid, gid, follow_symlinks=False)


if __name__ == "__main__":
    main()
