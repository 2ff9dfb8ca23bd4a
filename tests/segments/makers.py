"""Clips, videos and viewers for tests."""

from __future__ import annotations

import subprocess
from datetime import timedelta
from pathlib import Path
from typing import Any

import imageio_ffmpeg
from django.utils import timezone

from apps.access.core.callers import Caller
from apps.segments.models import Segment, Video
from apps.segments.services import storage


def clip(path: Path, seconds: int = 20, size: str = "320x240", *, sound: bool = True, picture: bool = True) -> Path:
    """Make a small clip with ffmpeg: moving bars and a tone."""
    command = [imageio_ffmpeg.get_ffmpeg_exe(), "-v", "error", "-y"]
    if picture:
        command += ["-f", "lavfi", "-i", f"testsrc=size={size}:rate=10:duration={seconds}"]
    if sound:
        command += ["-f", "lavfi", "-i", f"sine=frequency=440:duration={seconds}"]
    subprocess.run([*command, "-shortest", "-pix_fmt", "yuv420p", str(path)], check=True)
    return path


def video(caller: Caller, title: str = "A lecture", segments: int = 20, renditions: int = 2, **more: Any) -> Video:
    """Make a video that is ready, without files."""
    row = Video.objects.create(
        workspace_id=caller.workspace_id,
        title=title,
        status=Video.Status.DONE,
        finished_at=timezone.now(),
        duration_s=segments * 6.0,
        renditions=[{"name": f"{240 * (place + 1)}p", "height": 240 * (place + 1)} for place in range(renditions)],
        **more,
    )
    Segment.objects.bulk_create(
        Segment(
            video=row,
            rendition=rendition,
            index=index,
            start_s=index * 6.0,
            duration_s=6.0,
            bytes=100_000 * (rendition + 1),
            path=storage.address(row, f"{rendition}/{index}.m4s"),
        )
        for rendition in range(renditions)
        for index in range(segments)
    )
    return row


def event(
    row: Video, what: str = "heartbeat", position: float = 0.0, ago_s: float = 0.0, **more: Any
) -> dict[str, Any]:
    """Write one event as a client sends it."""
    at = (timezone.now() - timedelta(seconds=ago_s)).isoformat()
    told = {"viewer": "ann", "video": str(row.pk), "session": "s1", "event": what, "position_s": position, "at": at}
    return {**told, **more}
