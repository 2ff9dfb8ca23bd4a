"""Files of the segment cache: uploads, and the HLS folders that edges fetch from."""

from __future__ import annotations

import re
import shutil
import uuid
from collections.abc import Iterable
from pathlib import Path

from django.conf import settings

from apps.access import services as access
from apps.segments.models import Video

HOME = "segments"
ADDRESS = "/media/hls/"
NAME = re.compile(r"(?:master\.m3u8|\d{1,2}/(?:index\.m3u8|init(?:_\d+)?\.mp4|\d{1,6}\.m4s))\Z")
KINDS = {".m3u8": "application/vnd.apple.mpegurl", ".mp4": "video/mp4", ".m4s": "video/iso.segment"}


def root() -> Path:
    """Give this cache's part of the media folder."""
    return Path(settings.MEDIA_ROOT) / HOME


def keep(parts: Iterable[bytes], most: int) -> str:
    """Write an upload; gives its path inside the media folder.

    Raises:
        TooLarge: there are more bytes than allowed.
    """
    home = root() / "uploads"
    home.mkdir(parents=True, exist_ok=True)
    path, size = home / uuid.uuid4().hex, 0
    try:
        with path.open("wb") as out:
            for part in parts:
                size += len(part)
                if size > most:
                    raise access.TooLarge(f"The file is larger than {most} bytes.", field="file")
                out.write(part)
    except BaseException:
        path.unlink(missing_ok=True)
        raise
    return f"{HOME}/uploads/{path.name}"


def upload_of(video: Video) -> Path:
    """Give the file that was uploaded for a video."""
    return Path(settings.MEDIA_ROOT) / video.file


def hls_folder(folder: str) -> Path:
    """Give the folder of a video's segments by the last part of its address."""
    return root() / "hls" / folder


def address(video: Video, name: str) -> str:
    """Give the address of one of a video's files, from the root of the site."""
    return f"{ADDRESS}{video.folder}/{name}"


def served(folder: str, name: str) -> tuple[Path, str] | None:
    """Find a file that may be served, and its media type; None for everything else."""
    if not re.fullmatch(r"[0-9a-f-]{36}-[0-9a-f]{24}", folder) or not NAME.match(name):
        return None
    path = hls_folder(folder) / name
    return (path, KINDS[path.suffix]) if path.is_file() else None


def forget(folder: str, file: str) -> None:
    """Remove every file of a video: the folder of its segments, and its upload if there is one."""
    shutil.rmtree(hls_folder(folder), ignore_errors=True)
    if file:
        (Path(settings.MEDIA_ROOT) / file).unlink(missing_ok=True)
