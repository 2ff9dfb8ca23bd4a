"""Clips, videos and viewers for tests."""

from __future__ import annotations

import subprocess
from datetime import timedelta
from pathlib import Path
from typing import Any

import av
import cv2
import imageio_ffmpeg
import numpy as np
import numpy.typing as npt
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


def slide(text: str, number: int) -> npt.NDArray[np.uint8]:
    """Draw a slide, 540 x 960 x 3: its number shows in the height of its coloured head."""
    picture = np.full((540, 960, 3), 255, np.uint8)
    cv2.rectangle(picture, (0, 0), (959, 40 + 200 * number), (90, 40, 20), -1)
    cv2.putText(picture, text, (60, 400), cv2.FONT_HERSHEY_SIMPLEX, 2.2, (0, 0, 0), 4)
    return picture


def lecture(path: Path, *texts: str, seconds: int = 8) -> Path:
    """Make a film of slides, each shown so many seconds."""
    with av.open(str(path), "w") as file:
        stream = file.add_stream("libx264", rate=5)
        stream.width, stream.height, stream.pix_fmt = 960, 540, "yuv420p"
        for number, text in enumerate(texts):
            frame = av.VideoFrame.from_ndarray(slide(text, number % 2), format="bgr24")
            for _ in range(5 * seconds):
                frame.pts = None
                file.mux(stream.encode(frame))
        file.mux(stream.encode())
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
