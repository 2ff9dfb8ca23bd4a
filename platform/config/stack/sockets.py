"""Short ways to folders of sockets: the kernel takes no more than 107 bytes for a socket's whole path."""

from __future__ import annotations

import hashlib
import os
import tempfile
from pathlib import Path

LONGEST_FOLDER = 80


class SocketError(Exception):
    """The short way leads somewhere else; the message says where it lies."""


def way(folder: Path) -> Path:
    """Give the folder itself or, when it lies deep, a link to it among the temporary files."""
    if len(os.fsencode(folder)) <= LONGEST_FOLDER:
        return folder
    return Path(tempfile.gettempdir()) / f"touchstone-{hashlib.sha256(os.fsencode(folder)).hexdigest()[:16]}"


def make(folder: Path) -> None:
    """Make the folder, closed to others, and the way to it.

    Raises:
        SocketError: something else lies where the link should be.
    """
    folder.mkdir(mode=0o700, parents=True, exist_ok=True)
    link = way(folder)
    if link == folder:
        return
    if not link.is_symlink():
        link.symlink_to(folder)
    if link.lstat().st_uid != os.geteuid() or link.readlink() != folder:
        raise SocketError(f"{link} was not made by Touchstone; remove it")


def remove(folder: Path) -> None:
    """Remove the link, if there is one."""
    link = way(folder)
    if link != folder:
        link.unlink(missing_ok=True)
