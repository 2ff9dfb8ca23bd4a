"""The agent's parts by themselves."""

from __future__ import annotations

import os
from collections import OrderedDict
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tests.workers.edge.makers import ALLOWED, ORIGIN, access, line
from workers.edge import settings
from workers.edge.addresses import Refused, digest, file_of
from workers.edge.contents import Contents
from workers.edge.counts import Counts
from workers.edge.ghost import Ghost, footprint
from workers.edge.journal import Tail, read
from workers.edge.load import Load


@pytest.mark.parametrize("url", ["/media/a/1.m4s", f"{ORIGIN}/media/a/1.m4s", f"{ORIGIN}:443/media/a/1.m4s"])
def test_an_address_becomes_the_key_that_nginx_uses(url: str) -> None:
    assert ALLOWED.target(url).key == "/media/a/1.m4s"


def test_a_key_is_decoded_and_its_query_is_not() -> None:
    target = ALLOWED.target("/media/a%20b/%C3%A9.m4s?sign=%20x")
    assert target.key == "/media/a b/é.m4s?sign=%20x"
    assert target.path == "/media/a%20b/%C3%A9.m4s?sign=%20x"


@pytest.mark.parametrize(
    "url",
    [
        "http://media.example.org/media/a",  # another scheme
        "https://media.example.org:8443/media/a",
        "https://media.example.org.evil.test/media/a",
        "https://media.example.org@evil.test/media/a",
        "//evil.test/media/a",
        "/other/a",
        "/mediator/a",
        "/media/",
        "/media/../etc",
        "/media/%2e%2e/etc",
        "/media//a",
        "/media/%00",
        "/media/a%0d%0aX:y",
        "/media/a\\b",
        "/media/a?CMCD=bl",
        "",
        None,
        5,
        "/media/" + "a" * 3000,
    ],
)
def test_other_addresses_are_refused(url: object) -> None:
    with pytest.raises(Refused):
        ALLOWED.target(url)


@given(st.text(max_size=60))
def test_no_address_leaves_the_origin(url: str) -> None:
    try:
        target = ALLOWED.target(f"/media/{url}")
    except Refused:
        return
    assert target.path.startswith("/media/") and "/../" not in target.key and "\n" not in target.path


def test_a_file_lies_where_nginx_puts_it() -> None:
    name = digest("/media/a")
    assert file_of(Path("/z"), name) == Path(f"/z/{name[31]}/{name[29:31]}/{name}")


@pytest.mark.parametrize(
    ("changes", "outcome", "origin"),
    [
        ({}, "hit", 0),
        ({"cache": "MISS", "up_bytes": "300"}, "miss", 300),
        ({"cache": "MISS", "up_bytes": "0, 300"}, "miss", 300),
        ({"zone": "pins"}, "pinned_hit", 0),
        ({"zone": "pins", "cache": "MISS", "inner": "HIT", "up_bytes": "300"}, "pinned_hit", 0),
        ({"zone": "pins", "cache": "MISS", "inner": "MISS", "up_bytes": "300"}, "miss", 300),
        ({"cache": "STALE"}, "hit", 0),
        ({"source": "prewarm", "cache": "MISS", "up_bytes": "300"}, "prewarm", 300),
    ],
)
def test_a_line_has_its_outcome(changes: dict[str, object], outcome: str, origin: int) -> None:
    found = read(line(**changes))
    assert found is not None
    assert (found.outcome, found.origin_bytes) == (outcome, origin)


@given(st.binary(max_size=200))
def test_a_broken_line_is_left_out(told: bytes) -> None:
    assert read(told) is None


def test_what_the_agent_itself_asks_is_no_traffic() -> None:
    assert read(line("/edge/prewarm/media/a")) is None
    assert read(line(cache="")) is None


def test_a_log_is_read_once_across_runs_rotation_and_truncation(tmp_path: Path) -> None:
    log = tmp_path / "access.log"
    log.write_bytes(line("/media/1") + line("/media/2") + line("/media/3")[:20])
    tail = Tail(log)
    assert [one.key for one in tail.new()] == ["/media/1", "/media/2"]
    kept = tail.state
    tail.close()
    with log.open("ab") as file:
        file.write(line("/media/3")[20:])
    log.rename(tmp_path / "access.log.1")
    log.write_bytes(line("/media/4"))
    tail = Tail(log, kept)
    assert [one.key for one in tail.new()] == ["/media/3"]
    tail._moved_at = -1e9  # nginx has let go of the old one
    assert [one.key for one in tail.new()] == ["/media/4"]
    os.truncate(log, 0)
    log.write_bytes(line("/media/5")[:-1].replace(b" ", b"") + b"\n")
    assert [one.key for one in tail.new()] == ["/media/5"]
    tail.close()


def test_a_long_log_is_moved_aside(tmp_path: Path) -> None:
    log = tmp_path / "access.log"
    tail = Tail(log, most_bytes=100)
    assert not tail.rotate()
    log.write_bytes(line())
    assert tail.rotate() and not log.exists()


@given(st.lists(st.tuples(st.integers(0, 12), st.integers(1, 20_000)), max_size=80))
def test_a_ghost_is_an_lru_cache_by_bytes(asked: list[tuple[int, int]]) -> None:
    ghost, model, capacity, sizes = Ghost(60_000), OrderedDict[int, int](), 60_000, dict[int, int]()
    for at, (number, drawn) in enumerate(asked):
        size = sizes.setdefault(number, drawn)
        hit = number in model
        model.pop(number, None)
        model[number] = footprint(size)
        while sum(model.values()) > capacity:
            model.popitem(last=False)
        assert ghost.ask(str(number), size, float(at + 1)) == hit
        assert ghost.bytes == sum(model.values())


def test_what_is_pinned_in_a_ghost_stays() -> None:
    ghost = Ghost(20_000)
    ghost.ask("a", 5000, 1.0)
    ghost.pin({"a", "b"})
    ghost.ask("b", 5000, 2.0)
    for number in range(10):
        ghost.ask(str(number), 5000, 3.0 + number)
    assert "a" in ghost and "b" in ghost and ghost.bytes <= 20_000
    ghost.pin({"b"})
    assert "a" not in ghost


def test_turn_over_is_promised_before_it_is_measured() -> None:
    ghost = Ghost(100 * footprint(1000))
    for number in range(10):
        ghost.ask(str(number), 1000, 100.0 + number * 10)
    assert ghost.turnover_s == pytest.approx(900)
    for number in range(1000):
        ghost.ask(f"b{number}", 1000, 200.0 + number)
    assert ghost.turnover_s == pytest.approx(99)


def test_a_ghost_can_be_kept() -> None:
    ghost, other = Ghost(50_000), Ghost(50_000)
    for number in range(9):
        ghost.ask(str(number), 9000, float(number + 1))
    other.seed(ghost.dump())
    assert other.dump() == ghost.dump() and other.bytes == ghost.bytes and other.origin_bytes == 0


def put(zone: Path, key: str, size: int = 500, valid: int = 2_000_000_000) -> Path:
    path = file_of(zone, digest(key))
    path.parent.mkdir(parents=True, exist_ok=True)
    head = (5).to_bytes(8, "little") + valid.to_bytes(8, "little") + bytes(300) + b"\nKEY: " + key.encode() + b"\n"
    path.write_bytes(head + bytes(size - len(head)))
    os.utime(path.parent, (1, 1))
    return path


def test_a_walk_says_what_came_and_what_went(tmp_path: Path) -> None:
    contents = Contents(tmp_path)
    first, _ = put(tmp_path, "/media/a", 500), put(tmp_path, "/media/b", 700)
    (first.parent / f"{first.name}.0000000001").write_bytes(b"half")  # nginx is still writing it
    put(tmp_path, "/media/stub", 400, valid=1)
    assert contents.walk().added == {"/media/a": 4096, "/media/b": 4096}
    assert contents.bytes == 8192
    first.unlink()
    changes = contents.walk()
    assert (changes.added, changes.removed) == ({}, {"/media/a": 4096})
    assert contents.bytes == 4096


def test_the_load_is_a_share_even_without_proc(tmp_path: Path) -> None:
    load = Load(8000, tmp_path)
    load.sent(10**9)
    assert load.measure() == (1.0, 0.0)
    assert load.measure()[0] == 0.0


def test_counts_are_told_by_outcome() -> None:
    counts = Counts()
    for one in (access(cache="MISS"), access(), access(zone="pins"), access(status=502)):
        counts.take(one)
    counts.take(access(source="prewarm", cache="MISS"))
    counts.take(access(source="prewarm", cache="HIT"))
    told = counts.report()
    assert {name: one["requests"] for name, one in told["outcomes"].items()} == {
        "hit": 1,
        "miss": 1,
        "prewarm": 1,
        "pinned_hit": 1,
    }
    assert told["origin_bytes"] == {"demand": 10_200, "prewarm": 10_200}
    assert told["failed"] == {"viewer": 1, "prewarm": 0}


BASE = {"EDGE_FOLDER": "/tmp/e", "EDGE_URL": "http://x", "EDGE_TOKEN": "t", "TOUCHSTONE_URL": "http://p/"}


def test_settings_are_read_from_the_environment_and_from_files(tmp_path: Path) -> None:
    (tmp_path / "key").write_text("secret\n")
    told = settings.from_environment({**BASE, "TOUCHSTONE_KEY_FILE": str(tmp_path / "key"), "EDGE_CAPACITY": "1.5g"})
    assert told.platform_key == "secret" and told.capacity == 1.5 * 2**30 and told.origin == "http://p"


@pytest.mark.parametrize(
    "wrong",
    [
        {"EDGE_CAPACITY": "much"},
        {"EDGE_CAPACITY": "5k"},
        {"EDGE_PIN_SHARE": "2"},
        {"EDGE_FLOWS": "x"},
        {"EDGE_URL": ""},
    ],
)
def test_settings_that_cannot_be_meant_are_refused(wrong: dict[str, str]) -> None:
    with pytest.raises(settings.SettingsProblem):
        settings.from_environment({**BASE, "TOUCHSTONE_KEY": "k", **wrong})
