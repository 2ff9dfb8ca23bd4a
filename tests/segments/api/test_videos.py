"""Videos that are none, captions and outlines that cannot be meant, manifests that lead elsewhere."""

from __future__ import annotations

import threading
from collections.abc import Iterator
from contextlib import contextmanager
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from typing import Any

import pytest

from apps.segments.models import Segment, Video
from apps.segments.services import storage, videos
from tests import factories
from tests.clients import Http
from tests.segments import makers
from tests.segments.api.test_thread import form

pytestmark = pytest.mark.django_db
VIDEOS = "/api/v1/segments/videos/"


@pytest.fixture(autouse=True)
def media(tmp_path: Path, settings: Any) -> Path:
    """Keep uploads in a folder of the test's own."""
    settings.MEDIA_ROOT = tmp_path / "media"
    return tmp_path


@contextmanager
def origin(files: dict[str, str]) -> Iterator[str]:
    """An origin that serves playlists."""

    class Handler(BaseHTTPRequestHandler):
        def do_GET(self) -> None:
            text = files.get(self.path)
            self.send_response(200 if text is not None else 404)
            self.end_headers()
            self.wfile.write((text or "").encode())

        def log_message(self, *args: Any) -> None:
            pass

    server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
    thread = threading.Thread(target=server.serve_forever)
    thread.start()
    yield f"http://127.0.0.1:{server.server_port}"
    server.shutdown()
    thread.join()
    server.server_close()


MEDIA = "#EXTM3U\n#EXT-X-TARGETDURATION:6\n#EXTINF:6,\n0.ts\n#EXTINF:6,\n1.ts\n#EXT-X-ENDLIST\n"
MASTER = "#EXTM3U\n#EXT-X-STREAM-INF:BANDWIDTH=800000,RESOLUTION=640x360\na/index.m3u8\n"


@pytest.mark.parametrize("kind", ["text", "empty", "sound", "cut"])
def test_a_file_that_is_no_video_fails_with_a_reason(media: Path, kind: str) -> None:
    _, secret = factories.key()
    file = media / "a.mp4"
    if kind == "sound":
        makers.clip(file, 3, picture=False)
    elif kind == "cut":
        file.write_bytes(makers.clip(media / "whole.mp4", 5).read_bytes()[:3_000])
    else:
        file.write_bytes(b"no video at all" * 99 if kind == "text" else b"")
    body, mime = form(file, title="Broken")
    pk = Http(secret).post(VIDEOS, body, mime).json()["id"]
    assert not Video.perform(pk, videos.perform)
    told = Http(secret).get(f"{VIDEOS}{pk}/").json()
    assert told["status"] == "failed"
    assert told["error"].startswith("BrokenVideo: ")


@pytest.mark.parametrize(
    ("fields", "field"),
    [
        ({"captions": "WEBVTT\n\n00:09.000 --> 00:01.000\nback in time"}, "captions"),
        ({"outline": '[{"title": "a", "start": 9, "end": 1}]'}, "outline"),
        ({"outline": '[{"title": "a", "start": 0, "end": 1, "prerequisites": ["b"]}]'}, "outline"),
        ({"outline": "{"}, "outline"),
        ({"kind": "opera"}, "kind"),
        ({"title": ""}, "title"),
    ],
)
def test_what_cannot_be_meant_is_told_at_its_field(media: Path, fields: dict[str, str], field: str) -> None:
    _, secret = factories.key()
    body, mime = form(makers.clip(media / "a.mp4", 2), **{"title": "A", **fields})
    reply = Http(secret).post(VIDEOS, body, mime)
    assert reply.status_code == 422
    assert reply.json()["errors"][0]["field"] == field
    assert not Video.objects.exists()


def test_a_manifest_of_an_allowed_origin_is_read(settings: Any) -> None:
    _, secret = factories.key()
    with origin({"/v/master.m3u8": MASTER, "/v/a/index.m3u8": MEDIA}) as url:
        settings.SEGMENTS = {**settings.SEGMENTS, "ORIGINS": [url]}
        pk = Http(secret).post(VIDEOS, {"title": "Theirs", "manifest": f"{url}/v/master.m3u8"}).json()["id"]
        assert Video.perform(pk, videos.perform)
    assert list(Segment.objects.order_by("index").values_list("path", "bytes")) == [
        ("/v/a/0.ts", 600_000),
        ("/v/a/1.ts", 600_000),
    ]
    assert Video.objects.get().duration_s == 12


@pytest.mark.parametrize("line", ["http://elsewhere.example/0.ts", "//elsewhere.example/0.ts", "file:///etc/passwd"])
def test_a_manifest_that_leads_out_of_its_origin_fails(settings: Any, line: str) -> None:
    _, secret = factories.key()
    with origin({"/m.m3u8": f"#EXTM3U\n#EXTINF:6,\n{line}\n"}) as url:
        settings.SEGMENTS = {**settings.SEGMENTS, "ORIGINS": [url]}
        pk = Http(secret).post(VIDEOS, {"title": "Hostile", "manifest": f"{url}/m.m3u8"}).json()["id"]
        assert not Video.perform(pk, videos.perform)
    assert "outside" in Video.objects.get().error or "Not an HTTP" in Video.objects.get().error


@pytest.mark.parametrize("url", ["http://127.0.0.1:9/m.m3u8", "file:///etc/passwd", "gopher://x/", "x"])
def test_other_origins_are_never_asked(url: str) -> None:
    _, secret = factories.key()
    assert Http(secret).post(VIDEOS, {"title": "Elsewhere", "manifest": url}).status_code == 422


def test_a_forgotten_video_leaves_no_file(media: Path, django_capture_on_commit_callbacks: Any) -> None:
    _, secret = factories.key()
    body, mime = form(makers.clip(media / "a.mp4", 4), title="A")
    pk = Http(secret).post(VIDEOS, body, mime).json()["id"]
    assert Video.perform(pk, videos.perform)
    assert list(storage.root().rglob("*.m4s"))
    with django_capture_on_commit_callbacks(execute=True):
        assert Http(secret).delete(f"{VIDEOS}{pk}/").status_code == 204
    assert [path for path in storage.root().rglob("*") if path.is_file()] == []
