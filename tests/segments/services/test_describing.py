"""Where the words of a video come from: captions, else slides, else a recogniser of speech that somebody names."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from apps.access.core.callers import Caller
from apps.segments.core.captions import Cue
from apps.segments.models import Moment, Tuning, Video
from apps.segments.services import videos
from tests import factories
from tests.segments import makers

pytestmark = pytest.mark.django_db
CAPTIONS = "WEBVTT\n\n00:00.000 --> 00:16.000\nwhat the lecturer says\n"


@pytest.fixture
def caller(settings: Any, tmp_path: Path) -> Caller:
    settings.MEDIA_ROOT = tmp_path / "media"
    return factories.key()[0]


def texts(caller: Caller, file: Path, kind: str = "education", **more: Any) -> list[str]:
    row = videos.register(caller, {"title": "A lecture", "kind": kind, **more}, [file.read_bytes()])
    assert Video.perform(row.pk, videos.perform)
    return list(Moment.objects.filter(video=row).order_by("index").values_list("text", flat=True))


def hear(file: Path) -> list[Cue]:
    """Stand in for somebody's recogniser of speech."""
    assert file.stat().st_size > 0
    return [Cue(0.0, 6.0, "heard")]


def deaf(file: Path) -> list[Cue]:
    """Fail, as somebody else's code may."""
    raise RuntimeError(file.name)


def test_slides_give_their_words_where_there_are_no_captions(caller: Caller, tmp_path: Path) -> None:
    file = makers.lecture(tmp_path / "a.mp4", "Gradient descent", "Learning rate")
    found = texts(caller, file)
    assert "Gradient descent" in found[0]
    assert "Learning rate" in found[-1]
    assert texts(caller, file, captions=CAPTIONS)[0] == "what the lecturer says"
    assert set(texts(caller, file, kind="film")) == {""}
    Tuning.objects.create(workspace_id=caller.workspace_id, slides=False)
    assert set(texts(caller, file)) == {""}


def test_a_recogniser_of_speech_is_a_plug_in(caller: Caller, tmp_path: Path, settings: Any) -> None:
    file = makers.clip(tmp_path / "a.mp4", 8)
    settings.SEGMENTS = {**settings.SEGMENTS, "SPEECH": f"{__name__}:hear"}
    assert texts(caller, file, kind="film") == ["heard", ""]
    for broken in (f"{__name__}:deaf", "nowhere:nothing"):
        settings.SEGMENTS = {**settings.SEGMENTS, "SPEECH": broken}
        assert set(texts(caller, file, kind="film")) == {""}
