"""Video files from strangers end in frames or in a clear error, never in a crash."""

import wave
from pathlib import Path
from typing import Any

import av
import cv2
import numpy as np
import pytest

from apps.inference.core import video


def _write(path: Path, sizes: list[tuple[int, int]], codec: str = "libx264", noise: int = 0) -> Path:
    """A clip whose k-th frame has brightness 10 k, with noise on request."""
    rng = np.random.default_rng(0)
    with av.open(str(path), "w") as container:
        stream: Any = container.add_stream(codec, rate=10)
        stream.width, stream.height = sizes[0][1], sizes[0][0]
        stream.pix_fmt = "yuv420p"
        for k, (height, width) in enumerate(sizes):
            picture = np.full((height, width, 3), (10 * k) % (250 - noise), dtype=np.uint8)
            picture += rng.integers(0, noise + 1, size=picture.shape, dtype=np.uint8)
            container.mux(stream.encode(av.VideoFrame.from_ndarray(picture, format="rgb24")))
        container.mux(stream.encode(None))
    return path


@pytest.fixture(scope="module")
def clip(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return _write(tmp_path_factory.mktemp("clip") / "clip.mp4", [(48, 64)] * 12)


def test_frames_come_in_order_at_the_size_asked_for(clip: Path) -> None:
    found = list(video.frames(clip, 24, 40))
    assert [f.shape for f in found] == [(24, 40, 3)] * 12
    brightness = [float(f.mean()) for f in found]
    assert brightness == sorted(brightness)
    assert brightness[11] == pytest.approx(110, abs=4)


def test_every_nth_frame_up_to_a_limit(clip: Path) -> None:
    found = [float(f.mean()) for f in video.frames(clip, 48, 64, every=3, limit=3)]
    assert found == pytest.approx([0, 30, 60], abs=4)


def test_facts_are_read(clip: Path) -> None:
    facts = video.probe(clip)
    assert (facts.width, facts.height, facts.frames, facts.rate, facts.codec) == (64, 48, 12, 10.0, "h264")


def test_a_renamed_file_is_decoded_by_its_content(clip: Path, tmp_path: Path) -> None:
    (tmp_path / "clip.txt").write_bytes(clip.read_bytes())
    assert len(list(video.frames(tmp_path / "clip.txt", 48, 64))) == 12


def test_a_reader_that_stops_early_leaves_no_process(clip: Path) -> None:
    reader = video.frames(clip, 48, 64)
    next(reader)
    reader.close()  # type: ignore[attr-defined]


def _sound(path: Path) -> None:
    with wave.open(str(path), "wb") as out:
        out.setnchannels(1)
        out.setsampwidth(2)
        out.setframerate(8000)
        out.writeframes(bytes(16000))


@pytest.mark.parametrize(
    ("content", "words"),
    [
        (b"", "empty"),
        (b"not a video at all" * 100, "not a video"),
        (bytes(5000), "not a video"),
        (b"\x00\x00\x00\x20ftypisom" + bytes(300), "not a video|no picture|no frame|broken"),
    ],
)
def test_a_broken_file_says_so(tmp_path: Path, content: bytes, words: str) -> None:
    (tmp_path / "bad.mp4").write_bytes(content)
    with pytest.raises(video.VideoError, match=words):
        list(video.frames(tmp_path / "bad.mp4", 48, 64))


def test_a_file_without_its_index_says_so(clip: Path, tmp_path: Path) -> None:
    (tmp_path / "half.mp4").write_bytes(clip.read_bytes()[: clip.stat().st_size // 2])
    with pytest.raises(video.VideoError):
        list(video.frames(tmp_path / "half.mp4", 48, 64))


def test_a_stream_that_breaks_off_gives_its_frames_first(tmp_path: Path) -> None:
    whole = _write(tmp_path / "whole.mkv", [(240, 320)] * 40, codec="mpeg4", noise=200)
    (tmp_path / "cut.mkv").write_bytes(whole.read_bytes()[: int(whole.stat().st_size * 0.5)])
    seen: list[float] = []
    with pytest.raises(video.VideoError, match="breaks off after"):
        seen.extend(float(f.mean()) for f in video.frames(tmp_path / "cut.mkv", 48, 64))
    assert 0 < len(seen) < 40


def test_sound_only_is_refused(tmp_path: Path) -> None:
    _sound(tmp_path / "sound.wav")
    with pytest.raises(video.VideoError, match="no picture"):
        list(video.frames(tmp_path / "sound.wav", 48, 64))


def test_no_such_file_is_refused(tmp_path: Path) -> None:
    with pytest.raises(video.VideoError, match=r"no such file: gone\.mp4"):
        list(video.frames(tmp_path / "gone.mp4", 48, 64))


def test_zero_frames_are_refused(tmp_path: Path) -> None:
    with av.open(str(tmp_path / "none.mkv"), "w") as container:
        stream: Any = container.add_stream("libx264", rate=10)
        stream.width, stream.height, stream.pix_fmt = 64, 48, "yuv420p"
        container.start_encoding()
    with pytest.raises(video.VideoError, match=r"no frame|not a video|no picture"):
        list(video.frames(tmp_path / "none.mkv", 48, 64))


def test_a_huge_picture_is_refused(tmp_path: Path) -> None:
    picture = np.zeros((16, 9000, 3), dtype=np.uint8)
    with av.open(str(tmp_path / "wide.mkv"), "w") as container:
        stream: Any = container.add_stream("ffv1", rate=10)
        stream.width, stream.height, stream.pix_fmt = 9000, 16, "yuv420p"
        container.mux(stream.encode(av.VideoFrame.from_ndarray(picture, format="rgb24")))
        container.mux(stream.encode(None))
    with pytest.raises(video.VideoError, match="9000x16"):
        list(video.frames(tmp_path / "wide.mkv", 48, 64))


def test_frames_that_change_size_come_at_one_size(tmp_path: Path) -> None:
    pictures = [np.full((*size, 3), 90, dtype=np.uint8) for size in [(48, 64), (32, 32), (48, 64)]]
    path = tmp_path / "mixed.mjpeg"
    path.write_bytes(b"".join(bytes(cv2.imencode(".jpg", p)[1]) for p in pictures))
    assert [f.shape for f in video.frames(path, 40, 40)] == [(40, 40, 3)] * 3
