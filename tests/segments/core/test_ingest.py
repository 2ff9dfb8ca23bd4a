"""ffmpeg as a child: aligned renditions, progress, a stop that is heard, and files that are no videos."""

from __future__ import annotations

from pathlib import Path

import pytest

from apps.segments.core import ingest, manifest
from tests.segments import makers


def test_renditions_are_cut_at_the_same_moments(tmp_path: Path) -> None:
    out = tmp_path / "out"
    out.mkdir()
    shares: list[float] = []
    ladder = ingest.segment(makers.clip(tmp_path / "a.mp4", 15, "640x360"), out, lambda share: not shares.append(share))
    assert [each.height for each in ladder] == [240, 360]
    cuts = [
        [round(each.start, 2) for each in manifest.parse((out / rung.playlist).read_text(), "http://here/x").segments]
        for rung in ladder
    ]
    assert cuts[0] == cuts[1] == [0, 6, 12]
    assert (out / "master.m3u8").exists()
    assert shares == sorted(shares)


def test_a_stop_is_heard_and_ffmpeg_ends(tmp_path: Path) -> None:
    out = tmp_path / "out"
    out.mkdir()
    with pytest.raises(ingest.Stopped):
        ingest.segment(makers.clip(tmp_path / "a.mp4", 30), out, lambda share: False)


def test_sound_alone_is_told_apart_from_no_video_at_all(tmp_path: Path) -> None:
    with pytest.raises(ingest.BrokenVideo, match="no picture"):
        ingest.probe(makers.clip(tmp_path / "a.mp4", 2, picture=False))
    (tmp_path / "b.mp4").write_text("hello")
    with pytest.raises(ingest.BrokenVideo, match="no video"):
        ingest.probe(tmp_path / "b.mp4")


def test_a_playlist_in_disguise_reaches_for_nothing(tmp_path: Path) -> None:
    """ffmpeg would follow a playlist's addresses; only files and pipes are allowed to it."""
    path = tmp_path / "a.mp4"
    path.write_text("#EXTM3U\n#EXTINF:6,\nhttp://127.0.0.1:9/0.ts\n#EXT-X-ENDLIST\n")
    with pytest.raises(ingest.BrokenVideo):
        ingest.probe(path)
