"""Files of this cache: uploads named by their content, and paths that must not leave the media folder."""

from __future__ import annotations

import hashlib
import os
import uuid
from collections.abc import Iterable
from dataclasses import dataclass
from pathlib import Path
from uuid import UUID

from django.conf import settings

from apps.access import services as access

HOME = "inference"
# What the caches keep for themselves, by workspace; nobody names it by path.
PRIVATE = frozenset({HOME, "segments"})
PART = 2**20


@dataclass(frozen=True, slots=True)
class Kept:
    """A file of ours: its path inside the media folder, its digest (hex) and its bytes."""

    file: str
    sha256: str
    size: int


def root() -> Path:
    """Give the media folder."""
    return Path(settings.MEDIA_ROOT)


def folder(workspace_id: UUID, kind: str) -> Path:
    """Give, and make, this workspace's folder of one kind of files."""
    path = root() / HOME / str(workspace_id) / kind
    path.mkdir(parents=True, exist_ok=True)
    return path


def keep(parts: Iterable[bytes], workspace_id: UUID, kind: str, suffix: str, most: int) -> Kept:
    """Write an upload under its digest; the same bytes are kept once.

    Raises:
        TooLarge: there are more bytes than allowed.
    """
    home = folder(workspace_id, kind)
    beside, digest, size = home / f".{uuid.uuid4().hex}", hashlib.sha256(), 0
    try:
        with beside.open("wb") as out:
            for part in parts:
                size += len(part)
                if size > most:
                    raise access.TooLarge(f"The file is larger than {most} bytes.", field="file")
                digest.update(part)
                out.write(part)
        path = home / f"{digest.hexdigest()}{suffix}"
        os.replace(beside, path)
    finally:
        beside.unlink(missing_ok=True)
    return Kept(str(path.relative_to(root())), digest.hexdigest(), size)


def named(path: str) -> str:
    """Check a path that a client names, and give it relative to the media folder.

    Raises:
        Invalid: it leads outside, into what the caches keep for themselves, or to no file.
    """
    home = root().resolve()
    try:
        found = (home / path).resolve()
    except (OSError, ValueError, RuntimeError) as problem:
        raise access.Invalid("This is no path.", field="path") from problem
    if not path.strip() or not found.is_relative_to(home) or found == home:
        raise access.Invalid("The path must stay inside the media folder.", field="path")
    relative = found.relative_to(home)
    if relative.parts[0] in PRIVATE or any(part.startswith(".") for part in relative.parts):
        raise access.Invalid("The path must stay inside the media folder.", field="path")
    if not _is_file(found):
        raise access.Invalid("There is no such file in the media folder.", field="path")
    return str(relative)


def _is_file(path: Path) -> bool:
    try:
        return path.is_file()
    except OSError:
        return False


def digest_of(path: Path) -> str:
    """Compute a file's SHA-256 (hex)."""
    found = hashlib.sha256()
    with path.open("rb") as stream:
        while part := stream.read(PART):
            found.update(part)
    return found.hexdigest()


def drop(file: str) -> None:
    """Remove a file of ours; harmless when it went already."""
    if file:
        (root() / file).unlink(missing_ok=True)
