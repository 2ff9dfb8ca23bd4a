"""Cut a video into HLS segments: ffmpeg as a child process, which may die of a file without taking anybody along."""

from __future__ import annotations

import re
import subprocess
import threading
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path

import cv2
import imageio_ffmpeg
import numpy as np
import numpy.typing as npt

SEGMENT_S = 6
LADDER = ((240, 400), (360, 800), (720, 2_400))  # height in pixels, video kilobits a second
LONGEST_S = 12 * 3_600.0
LARGEST_SIDE = 8_192
SLOWEST = 20.0  # times real time, after which ffmpeg is given up
PICTURE = re.compile(r"Stream #\d+:\d+.*?: Video: .*?(\d{2,5})x(\d{2,5})")
SOUND = re.compile(r"Stream #\d+:\d+.*?: Audio: ")
LENGTH = re.compile(r"Duration: (\d+):(\d{2}):(\d{2}(?:\.\d+)?)")
Progress = Callable[[float], bool]


class BrokenVideo(ValueError):
    """A file that is no video, or that breaks while it is read; the message is for its owner."""


class Stopped(Exception):
    """Whoever asked for it does not want it any more."""


@dataclass(frozen=True, slots=True)
class About:
    """What a file holds: size of the picture in pixels, length in seconds, whether there is sound."""

    width: int
    height: int
    duration_s: float
    sound: bool


@dataclass(frozen=True, slots=True)
class Rendition:
    """One rung of the ladder: `bandwidth` in bits a second, file names inside the folder."""

    name: str
    width: int
    height: int
    bandwidth: int
    playlist: str


def probe(file: Path) -> About:
    """Ask ffmpeg what a file holds.

    Raises:
        BrokenVideo: it is no video, has no picture or no length, or is larger than is taken.
    """
    told = _run(["-i", str(file)], 60).stderr
    picture, length = PICTURE.search(told), LENGTH.search(told)
    if picture is None:
        raise BrokenVideo("There is no picture in this file." if SOUND.search(told) else "This file is no video.")
    width, height = int(picture[1]), int(picture[2])
    if max(width, height) > LARGEST_SIDE:
        raise BrokenVideo(f"The picture is {width} x {height}; up to {LARGEST_SIDE} pixels a side are taken.")
    seconds = int(length[1]) * 3_600 + int(length[2]) * 60 + float(length[3]) if length else 0.0
    if not 0 < seconds <= LONGEST_S:
        raise BrokenVideo("The length of this file cannot be told, or it is longer than 12 hours.")
    return About(width, height, seconds, SOUND.search(told) is not None)


def segment(file: Path, folder: Path, progress: Progress = lambda share: True) -> list[Rendition]:
    """Cut a video into fragmented MP4 segments of 6 s, key frames aligned over two or three renditions.

    Args:
        file: the video; nothing in it is trusted.
        folder: where `master.m3u8` and a folder per rendition are written; it must exist.
        progress: told the share that is done; returns False to stop.

    Raises:
        BrokenVideo: ffmpeg cannot read the file, or takes too long.
        Stopped: `progress` said so.
    """
    about = probe(file)
    rungs = [rung for rung in LADDER if rung[0] <= about.height] or [LADDER[0]]
    ladder = [_rendition(place, rung, about) for place, rung in enumerate(rungs)]
    _follow(_command(file, folder, ladder, rungs, about), about, progress)
    if not all((folder / each.playlist).exists() for each in ladder):
        raise BrokenVideo("Nothing in this file could be decoded.")
    return ladder


def _rendition(place: int, rung: tuple[int, int], about: About) -> Rendition:
    height = min(rung[0], about.height) // 2 * 2
    width = max(2, round(about.width * height / about.height / 2) * 2)
    return Rendition(f"{height}p", width, height, rung[1] * 1_100, f"{place}/index.m3u8")


def _command(
    file: Path, folder: Path, ladder: Sequence[Rendition], rungs: Sequence[tuple[int, int]], about: About
) -> list[str]:
    splits = "".join(f"[s{place}]" for place in range(len(ladder)))
    scales = [f"[s{n}]scale={each.width}:{each.height},format=yuv420p[v{n}]" for n, each in enumerate(ladder)]
    graph = ";".join([f"[0:v:0]split={len(ladder)}{splits}", *scales])
    command = ["-y", "-i", str(file), "-filter_complex", graph]
    for place, (_height, kilobits) in enumerate(rungs):
        command += [
            "-map",
            f"[v{place}]",
            f"-b:v:{place}",
            f"{kilobits}k",
            f"-maxrate:v:{place}",
            f"{kilobits * 5 // 4}k",
        ]
        command += [f"-bufsize:v:{place}", f"{kilobits * 2}k", *(["-map", "0:a:0"] if about.sound else [])]
    streams = [f"v:{place},a:{place}" if about.sound else f"v:{place}" for place in range(len(ladder))]
    return [
        *command,
        *("-c:v", "libx264", "-preset", "veryfast", "-sc_threshold", "0", "-threads", "1"),
        *("-force_key_frames", f"expr:gte(t,n_forced*{SEGMENT_S})", "-c:a", "aac", "-b:a", "96k", "-ac", "2"),
        *("-f", "hls", "-hls_time", str(SEGMENT_S), "-hls_playlist_type", "vod", "-hls_segment_type", "fmp4"),
        *("-hls_flags", "independent_segments", "-hls_fmp4_init_filename", "init.mp4"),
        *("-hls_segment_filename", str(folder / "%v" / "%d.m4s"), "-master_pl_name", "master.m3u8"),
        *("-var_stream_map", " ".join(streams), "-progress", "pipe:1", str(folder / "%v" / "index.m3u8")),
    ]


def _follow(command: Sequence[str], about: About, progress: Progress) -> None:
    """Run ffmpeg, tell how far it is, and end it when it takes too long or nobody wants it any more."""
    errors: list[str] = []
    pipes = {"stdout": subprocess.PIPE, "stderr": subprocess.PIPE, "stdin": subprocess.DEVNULL}
    with subprocess.Popen([*_program(), *command], text=True, **pipes) as child:  # type: ignore[call-overload]  # noqa: S603
        watch = threading.Timer(max(120.0, about.duration_s * SLOWEST), child.kill)
        reader = threading.Thread(target=lambda: errors.extend(child.stderr), daemon=True)
        watch.start()
        reader.start()
        wanted = False
        try:
            wanted = all(progress(share) for share in _shares(child.stdout, about.duration_s))
        finally:  # the timer stays on until ffmpeg has ended
            if not wanted:
                child.kill()
            reader.join()
            child.wait()
            watch.cancel()
    if not wanted:
        raise Stopped
    if child.returncode:
        raise BrokenVideo(f"ffmpeg gave up: {' '.join(errors[-2:]).strip()[-300:] or 'no reason given'}")


def _shares(lines: Iterable[str], duration_s: float) -> Iterator[float]:
    """Read from ffmpeg's progress which share of the video is done."""
    for line in lines:
        if line.startswith("out_time_us=") and line[12:].strip().isdigit():
            yield min(1.0, int(line[12:]) / 1e6 / duration_s)


def thumbnails(file: Path, duration_s: float, every_s: float = 1.0, side: int = 16) -> bytes:
    """Decode one small picture for every so many seconds: side x side pixels of three bytes, one after the other.

    Raises:
        BrokenVideo: ffmpeg cannot read the file.
    """
    picture = f"fps=1/{every_s:g},scale={side}:{side}:flags=area"
    command = ["-i", str(file), "-map", "0:v:0", "-vf", picture, "-pix_fmt", "rgb24", "-f", "rawvideo", "pipe:1"]
    done = subprocess.run(  # noqa: S603
        [*_program(), *command], capture_output=True, stdin=subprocess.DEVNULL, check=False,
        timeout=max(120.0, duration_s * SLOWEST),
    )  # fmt: skip
    if done.returncode:
        raise BrokenVideo(f"ffmpeg gave up: {done.stderr.decode(errors='replace').strip()[-300:]}")
    return done.stdout


def frame(file: Path, at_s: float, width: int) -> npt.NDArray[np.uint8] | None:
    """Decode the picture at a moment, (height, width, 3) in BGR; None when there is none, or it cannot be read."""
    scale = f"scale={width}:-2"
    command = ["-ss", f"{at_s:.3f}", "-i", str(file), "-map", "0:v:0", "-frames:v", "1", "-vf", scale]
    done = subprocess.run(  # noqa: S603
        [*_program(), *command, "-c:v", "bmp", "-f", "image2pipe", "pipe:1"], capture_output=True,
        stdin=subprocess.DEVNULL, check=False, timeout=120.0,
    )  # fmt: skip
    if done.returncode or not done.stdout:
        return None
    found = cv2.imdecode(np.frombuffer(done.stdout, np.uint8), cv2.IMREAD_COLOR)
    return None if found is None else np.asarray(found, np.uint8)


def _program() -> list[str]:
    return [imageio_ffmpeg.get_ffmpeg_exe(), "-hide_banner", "-nostats", "-protocol_whitelist", "file,pipe"]


def _run(command: Sequence[str], timeout_s: float) -> subprocess.CompletedProcess[str]:
    try:
        return subprocess.run(  # noqa: S603
            [*_program(), *command], capture_output=True, text=True, errors="replace", timeout=timeout_s, check=False
        )
    except subprocess.TimeoutExpired as problem:
        raise BrokenVideo("ffmpeg cannot tell what this file is.") from problem
