"""The shipped configuration in a real nginx."""

from __future__ import annotations

import json
import threading
from concurrent.futures import ThreadPoolExecutor
from dataclasses import replace

import pytest

from config.edge.nginx import EdgeError, Nginx, Shape
from tests.conftest import wait_for
from tests.workers.edge.conftest import Edge
from workers.edge.addresses import Allowed, file_of
from workers.edge.steering import Nginx as Steered
from workers.edge.steering import Pins

PATH = "/media/hls/1/0.m4s"


def logged(edge: Edge) -> list[dict[str, object]]:
    return [json.loads(line) for line in (edge.settings.folder / "log" / "access.log").read_text().splitlines()]


def test_twenty_cold_requests_make_one_fetch(edge: Edge) -> None:
    edge.origin.pause_s = 0.3
    with ThreadPoolExecutor(20) as pool:
        replies = list(pool.map(lambda _: edge.get(PATH), range(20)))
    assert {(reply.status, reply.bytes) for reply in replies} == {(200, 50_000)}
    assert edge.origin.fetched == [PATH]


def test_a_second_request_is_a_hit_and_says_so(edge: Edge) -> None:
    assert edge.get(PATH).cache == "MISS"
    assert edge.get(PATH).cache == "HIT"


def test_what_a_player_tells_is_logged_and_is_no_part_of_the_key(edge: Edge) -> None:
    edge.get(f"{PATH}?CMCD=bl%3D4000")
    assert edge.get(f"{PATH}?CMCD=bl%3D9000").cache == "HIT"
    assert edge.get(f"{PATH}?sign=1&CMCD=bl%3D9000").cache == "MISS"
    assert edge.get(f"{PATH}?sign=1").cache == "HIT"
    assert edge.origin.fetched == [PATH, f"{PATH}?sign=1"]
    first = wait_for(lambda: logged(edge))[0]
    assert first["cmcd"] == "bl%3D4000" and first["key"] == PATH
    assert int(str(first["rtt_us"])) >= 0


def test_a_prewarm_needs_the_token_and_sends_no_body(edge: Edge) -> None:
    assert edge.get(f"/edge/prewarm{PATH}", "HEAD").status == 403
    assert edge.get(f"/edge/prewarm{PATH}", "HEAD", X_Edge_Token="wrong").status == 403
    assert edge.get(f"/edge/prewarm{PATH}", "GET", X_Edge_Token=edge.nginx.token).status == 405
    assert edge.origin.fetched == []
    assert edge.get(f"/edge/prewarm{PATH}", "HEAD", X_Edge_Token=edge.nginx.token).status == 200
    wait_for(lambda: edge.get(PATH).cache == "HIT")
    assert edge.origin.fetched == [PATH]


def test_only_media_is_passed_on_and_only_read(edge: Edge) -> None:
    for path in ("/admin/", "/edge/inner", "/api/v1/metrics/", "/media/../admin/", "/edge/prewarm/admin/"):
        assert edge.get(path, "HEAD", X_Edge_Token=edge.nginx.token).status in (400, 404)
    assert edge.get(PATH, "POST").status == 403
    assert edge.origin.fetched == []


def test_pins_survive_pressure_and_cost_the_origin_nothing_to_set(edge: Edge) -> None:
    edge.get(PATH)
    assert Pins(edge.settings.folder).add(PATH)
    moved = edge.get(PATH)
    assert (moved.zone, moved.cache) == ("pins", "MISS")
    assert edge.origin.fetched == [PATH]
    for number in range(150):  # almost twice the capacity
        edge.get(f"/media/hls/2/{number}.m4s")
    assert edge.get(PATH).cache == "HIT"


def test_a_forgotten_segment_frees_its_bytes_at_nginx_too(edge: Edge) -> None:
    steered = Steered(edge.settings.edge_url, edge.nginx.token, edge.settings.folder)
    target = Allowed(edge.settings.origin).target(PATH)
    edge.get(PATH)
    assert steered.forget(target) > 50_000
    assert not file_of(edge.settings.folder / "segments", target.digest).exists()
    assert steered.forget(target) == 0
    assert edge.get(PATH).cache == "MISS"
    assert edge.get(PATH) == edge.get(PATH)


def test_a_forgotten_segment_is_never_served_empty(edge: Edge) -> None:
    steered = Steered(edge.settings.edge_url, edge.nginx.token, edge.settings.folder)
    target, over = Allowed(edge.settings.origin).target(PATH), threading.Event()

    def forget() -> None:
        while not over.is_set():
            steered.forget(target)

    thread = threading.Thread(target=forget)
    thread.start()
    replies = [edge.get(PATH) for _ in range(300)]
    over.set()
    thread.join()
    assert {(reply.status, reply.bytes) for reply in replies} == {(200, 50_000)}


def test_what_is_kept_is_served_without_the_origin(edge: Edge) -> None:
    edge.get(PATH)
    edge.get("/media/hls/1/index.m3u8")
    edge.origin.stop()
    assert edge.get(PATH).status == 200
    assert edge.get("/media/hls/1/index.m3u8").status == 200
    assert edge.get("/media/hls/1/1.m4s").status == 502
    edge.origin.start()
    assert edge.get("/media/hls/1/1.m4s").status == 200


def test_whether_a_segment_lies_here_is_said_without_fetching_it(edge: Edge) -> None:
    assert edge.get(f"/edge/held{PATH}", "HEAD").status == 204
    assert edge.origin.fetched == []
    edge.get(PATH)
    assert edge.get(f"/edge/held{PATH}", "HEAD").status == 200
    assert edge.get(f"/edge/held{PATH}").status == 405
    Pins(edge.settings.folder).add(PATH)
    assert edge.get(f"/edge/held{PATH}", "HEAD").status == 204  # not yet among the pins
    assert edge.get(PATH).status == 200
    assert edge.get(f"/edge/held{PATH}", "HEAD").status == 200
    assert edge.origin.fetched == [PATH]


def test_a_prewarm_storm_is_capped(edge: Edge) -> None:
    edge.origin.pause_s = 0.2
    with ThreadPoolExecutor(40) as pool:
        ask = lambda n: edge.get(f"/edge/prewarm/media/{n}.m4s", "HEAD", X_Edge_Token=edge.nginx.token)  # noqa: E731
        replies = list(pool.map(ask, range(200)))
    assert {reply.status for reply in replies} == {200, 429}
    assert len(edge.origin.fetched) < 120
    assert edge.get(PATH).status == 200


def test_a_restart_keeps_the_cache(edge: Edge) -> None:
    edge.get(PATH)
    edge.kill_nginx()
    edge.start_nginx()
    wait_for(lambda: edge.get(PATH).cache == "HIT")


@pytest.mark.parametrize(
    "change",
    [{"name": "a b"}, {"name": "x;}"}, {"prefixes": ("/media/.*",)}, {"origin": "file:///etc"}, {"origin": "http://"}],
)
def test_what_is_no_word_never_enters_the_configuration(shape: Shape, change: dict[str, str]) -> None:
    with pytest.raises(EdgeError):
        Nginx(replace(shape, **change)).configuration()  # type: ignore[arg-type]
