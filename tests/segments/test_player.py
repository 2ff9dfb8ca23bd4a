"""The player page in a real Chromium: a real video, through a real nginx, from a real origin."""

from __future__ import annotations

import functools
import http.server
import json
import subprocess
import threading
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import imageio_ffmpeg
import pytest
from axe_playwright_python.sync_playwright import Axe  # type: ignore[import-untyped]

from apps.access.models import User
from config.edge.nginx import Nginx, Shape
from tests import factories
from tests.conftest import Site, free_port

pytestmark = [pytest.mark.browser, pytest.mark.django_db(transaction=True)]


@pytest.fixture(scope="module")
def media(tmp_path_factory: pytest.TempPathFactory) -> Iterator[str]:
    """An origin with a lecture of 36 seconds; gives its address."""
    folder = tmp_path_factory.mktemp("origin")
    target = folder / "media" / "hls" / "7"
    target.mkdir(parents=True)
    source = ["-f", "lavfi", "-i", "testsrc=size=320x180:rate=12:duration=36"]
    video = ["-c:v", "libx264", "-pix_fmt", "yuv420p", "-g", "72", "-keyint_min", "72", "-sc_threshold", "0"]
    hls = ["-f", "hls", "-hls_time", "6", "-hls_playlist_type", "vod", "-hls_segment_type", "fmp4"]
    command = [imageio_ffmpeg.get_ffmpeg_exe(), "-v", "error", *source, *video, *hls, str(target / "index.m3u8")]
    subprocess.run(command, check=True, cwd=target)
    handler = functools.partial(QuietHandler, directory=str(folder))
    server = http.server.ThreadingHTTPServer(("127.0.0.1", 0), handler)
    threading.Thread(target=server.serve_forever, args=(0.01,), daemon=True).start()
    yield f"http://127.0.0.1:{server.server_port}"
    server.shutdown()
    server.server_close()


class QuietHandler(http.server.SimpleHTTPRequestHandler):
    protocol_version = "HTTP/1.1"

    def log_message(self, format: str, *args: Any) -> None:
        pass


@pytest.fixture
def nginx(tmp_path: Path, media: str) -> Iterator[Nginx]:
    running = Nginx(Shape(tmp_path / "edge", media, port=free_port(), capacity=2**26, flush="50ms"))
    running.launch()
    running.wait()
    yield running
    running.stop()


class Contract:
    """The segments API by the contract, in place of the real one, and what the page told it."""

    def __init__(self, page: Any, manifest: str) -> None:
        self.views: list[dict[str, Any]] = []
        self.predicted = [{"index": n, "probability": p} for n, p in ((2, 0.9), (3, 0.6), (4, 0.3))]
        self.about = {"id": 7, "title": "Sorting", "manifest": manifest}
        page.route("**/api/v1/segments/**", self.answer)

    def answer(self, route: Any) -> None:
        url, request = route.request.url, route.request
        told: Any = {"results": []}
        if "/videos/" in url:
            told = self.about
        elif "/predict/" in url:
            told = {"model": "retention", "window_s": 90, "segments": self.predicted}
        elif "/views/" in url:
            assert request.headers["x-csrftoken"]
            self.views.extend(json.loads(request.post_data))
            told = {"accepted": 1, "errors": []}
        route.fulfill(status=200, content_type="application/json", body=json.dumps(told))


@pytest.fixture
def player(site: Site, nginx: Nginx, page: Any) -> Contract:
    factories.key()
    user: User = factories.member("acme", "viewer")
    user.is_staff = True
    user.set_password("acme")
    user.save()
    site.start_web()
    contract = Contract(page, "/media/hls/7/index.m3u8")
    page.goto(f"{site.url}/admin/login/?next=/player/7/%3Fedge%3D{nginx.shape.url}")
    page.fill("[name=username]", "ada")
    page.fill("[name=password]", "acme")
    page.press("[name=password]", "Enter")
    page.wait_for_selector("#main[data-state=ready]")
    return contract


def until(page: Any, condition: Callable[[], bool]) -> None:
    """Wait while the page goes on: its requests are answered in this thread."""
    for _ in range(300):
        if condition():
            return
        page.wait_for_timeout(50)
    raise AssertionError("this did not happen")


def test_it_plays_through_the_edge_and_tells_what_the_viewer_does(player: Contract, page: Any, nginx: Nginx) -> None:
    assert page.text_content("#title") == "Sorting"
    assert nginx.shape.url.removeprefix("http://") in page.text_content("#route")
    page.click("#video")
    page.wait_for_function("document.querySelector('#video').currentTime > 0.3")
    page.keyboard.press("ArrowRight")
    until(page, lambda: {"intent", "play", "seek"} <= {view["event"] for view in player.views})
    page.keyboard.press(" ")
    until(page, lambda: player.views[-1]["event"] == "pause")
    assert len({view["viewer"] for view in player.views}) == 1 and {view["video"] for view in player.views} == {7}
    log = (nginx.shape.folder / "log" / "access.log").read_text().splitlines()
    told = [json.loads(line)["cmcd"] for line in log if ".m4s" in line]
    assert told and all("sid" in one for one in told)


def test_predicted_segments_turn_into_cached_ones(player: Contract, page: Any, nginx: Nginx) -> None:
    page.wait_for_function("document.querySelector('#model').textContent === 'retention'")
    assert "3 are expected next" in page.text_content("#summary")
    assert page.evaluate("document.querySelector('#strip').width") > 300
    page.click("#play")
    page.wait_for_function("/3 of them are there/.test(document.querySelector('#summary').textContent)")
    assert int(page.text_content("#misses")) >= 3
    page.reload()
    page.wait_for_selector("#main[data-state=ready]")
    page.click("#play")
    page.wait_for_function("Number(document.querySelector('#hits').textContent) >= 3")
    assert page.text_content("#misses") == "0"


@pytest.mark.parametrize("theme", ["light", "dark"])
@pytest.mark.parametrize("width", [375, 1280])
def test_everybody_can_use_it(player: Contract, page: Any, theme: str, width: int) -> None:
    page.set_viewport_size({"width": width, "height": 800})
    page.emulate_media(color_scheme=theme)
    assert page.evaluate("document.documentElement.scrollWidth <= innerWidth")
    found = Axe().run(page, options={"rules": {"video-caption": {"enabled": False}}})
    assert found.violations_count == 0, found.generate_report()
    page.focus("#play")
    page.keyboard.press("Enter")
    page.wait_for_function("!document.querySelector('#video').paused")
    page.focus("#seek")
    page.keyboard.press("End")
    page.wait_for_function("document.querySelector('#video').currentTime > 30")


def test_an_edge_that_nobody_knows_is_not_used(player: Contract, page: Any, site: Site) -> None:
    asked: list[str] = []
    page.on("request", lambda request: asked.append(request.url))
    page.goto(f"{site.url}/player/7/?edge=https://evil.example")
    page.wait_for_selector("#trouble:not([hidden])")
    assert "https://evil.example is no edge" in page.text_content("#trouble")
    assert not [url for url in asked if url.startswith("https://evil.example")]


def test_the_page_needs_a_person(site: Site, page: Any) -> None:
    site.start_web()
    page.goto(f"{site.url}/player/7/")
    assert "/admin/login/" in page.url
