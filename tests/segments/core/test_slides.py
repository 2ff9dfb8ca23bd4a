"""Slides are read once each, and what is no slide show is not read at all."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

from apps.segments.core import features, ingest, slides
from tests.segments import makers

WORDS = ("Gradient descent", "Learning rate")


@pytest.fixture(scope="module")
def lecture(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return makers.lecture(tmp_path_factory.mktemp("lecture") / "lecture.mp4", *WORDS)


def test_a_slide_is_read_to_the_letter() -> None:
    assert slides.read(makers.slide(WORDS[0], 0)) == WORDS[0]
    assert slides.read(np.zeros((540, 960, 3), np.uint8)) == ""


def test_every_slide_is_read_where_it_stands(lecture: Path) -> None:
    pictures = np.frombuffer(ingest.thumbnails(lecture, 16.0), np.uint8).reshape(-1, 16, 16, 3)
    came = slides.changes(features.cuts(features.brightness(pictures), "slides"))
    assert came == [0.0, 8.0]
    found = list(slides.cues(came, 16.0, lambda at: ingest.frame(lecture, at, slides.WIDTH)))
    assert [(cue.start, cue.end, cue.text) for cue in found] == [(0.0, 8.0, WORDS[0]), (8.0, 16.0, WORDS[1])]


def test_a_film_is_no_slide_show() -> None:
    assert slides.changes(np.ones(400, np.bool_)) == []
    assert slides.changes(np.zeros(0, np.bool_)) == []


def test_a_moment_without_a_picture_is_passed_over(lecture: Path, tmp_path: Path) -> None:
    assert ingest.frame(lecture, 99.0, slides.WIDTH) is None
    broken = tmp_path / "broken.mp4"
    broken.write_bytes(b"no video")
    assert ingest.frame(broken, 0.0, slides.WIDTH) is None
    assert list(slides.cues([0.0], 5.0, lambda at: None)) == []
