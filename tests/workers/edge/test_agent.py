"""The agent as a process beside a real nginx, with a platform that lies, dies and comes back."""

from __future__ import annotations

import json
import os
import threading
import time
from pathlib import Path

from tests.conftest import wait_for
from tests.workers.edge.conftest import Edge, lines

A, B, C = (f"/media/hls/1/{n}.m4s" for n in range(3))


def said(edge: Edge) -> str:
    return (edge.settings.folder / "log" / "agent.log").read_text()


def totals(edge: Edge) -> dict[str, int]:
    """Add up the reports' outcomes, each number once."""
    taken = {report["sequence"]: report["outcomes"] for report in edge.platform.reports}
    names = ("hit", "miss", "prewarm", "pinned_hit")
    return {name: sum(one[name]["requests"] for one in taken.values()) for name in names}


def test_it_registers_and_reports_what_is_there(edge: Edge) -> None:
    edge.start_agent()
    for path in (A, B, A):
        edge.get(path)
    wait_for(lambda: totals(edge) == {"hit": 1, "miss": 2, "prewarm": 0, "pinned_hit": 0})
    report = edge.platform.last()
    files = list((edge.settings.folder / "segments").rglob("*"))
    assert report["occupied_bytes"] == sum(-(-file.stat().st_size // 4096) * 4096 for file in files if file.is_file())
    assert report["capacity_bytes"] == 4 * 2**20 and 0 <= report["load"] <= 1 and report["turnover_s"] >= 0
    told = {one["url"] for report in edge.platform.reports for one in report["added"]}
    assert told == {A, B}
    assert edge.platform.registered[0]["name"] == "test"


def test_a_plan_is_carried_out(edge: Edge) -> None:
    edge.get(C)
    edge.start_agent()
    done = edge.platform.done(edge.platform.plan(prewarm=lines(A), pin=lines(B), evict=lines(C)))
    assert (done["status"], done["prewarmed"], done["pinned"], done["evicted"]) == ("done", 2, 1, 1)
    assert (edge.get(A).cache, edge.get(B).cache, edge.get(B).zone, edge.get(C).cache) == ("HIT", "HIT", "pins", "MISS")
    wait_for(lambda: totals(edge) == {"hit": 1, "miss": 2, "prewarm": 2, "pinned_hit": 2})
    done = edge.platform.done(edge.platform.plan())
    assert done["unpinned"] == 1
    assert edge.get(B).zone == "segments"


def test_a_pin_takes_what_is_there_without_asking_the_origin(edge: Edge) -> None:
    edge.get(A)
    edge.start_agent()
    edge.platform.done(edge.platform.plan(pin=lines(A)))
    assert (edge.get(A).cache, edge.get(A).zone) == ("HIT", "pins")
    assert edge.origin.fetched == [A]
    assert edge.platform.last()["files"] == 1


def test_a_shadow_plan_does_nothing_and_is_compared(edge: Edge) -> None:
    edge.get(C)
    edge.start_agent(EDGE_WINDOW_S="1")
    done = edge.platform.done(edge.platform.plan(prewarm=lines(A), pin=lines(B), evict=lines(C), shadow=True))
    assert done["status"] == "shadow"
    assert edge.get(C).cache == "HIT" and edge.origin.fetched == [C]
    for _ in range(60):
        edge.get(A)
    compared = wait_for(lambda: [one for one in edge.platform.reports if one["comparison"]], 20)[0]
    assert compared["mode"] == "shadow"
    assert compared["comparison"]["lru_origin_bytes"] == 50_000


def test_nothing_outside_the_origin_is_fetched(edge: Edge) -> None:
    edge.start_agent()
    hostile = [
        "http://169.254.169.254/media/x",
        f"{edge.platform.url}/media/x",
        "//other/media/x",
        "/admin/",
        "/media/%2e%2e/admin",
        "file:///etc/passwd",
        f"http://a@127.0.0.1:{edge.origin.port}/media/x",
        "/media/a\r\nX: y",
    ]
    done = edge.platform.done(edge.platform.plan(prewarm=[*lines(*hostile), {"url": None}, 7, *lines(A)]))
    assert done["prewarmed"] == 1 and done["refused_count"] == len(hostile) + 2
    assert edge.origin.fetched == [A]


def test_a_plan_that_cannot_be_read_is_refused_and_the_next_one_works(edge: Edge) -> None:
    edge.start_agent()
    assert edge.platform.done(edge.platform.plan(prewarm="everything"))["status"] == "failed"
    assert edge.platform.done(edge.platform.plan(budget_bytes=-1))["status"] == "failed"
    assert edge.platform.done(edge.platform.plan(prewarm=lines(A)))["status"] == "done"


def test_lying_sizes_stop_at_the_budget(edge: Edge) -> None:
    edge.start_agent()
    paths = [f"/media/{n}.m4s" for n in range(40)]
    done = edge.platform.done(edge.platform.plan(prewarm=lines(*paths, size=1), budget_bytes=200_000))
    assert done["lies"] > 0
    assert len(edge.origin.fetched) <= 4 + edge.settings.flows  # what was under way when the lie was seen


def test_the_rate_of_a_plan_is_kept(edge: Edge) -> None:
    edge.start_agent()
    began = time.monotonic()
    paths = [f"/media/{n}.m4s" for n in range(8)]
    edge.platform.done(edge.platform.plan(prewarm=lines(*paths), limit_bps=1.6e6))  # 200,000 bytes a second
    assert time.monotonic() - began > (8 * 50_000 - 100_000 - 50_000) / 200_000


def test_a_storm_of_plans_is_capped(edge: Edge) -> None:
    edge.start_agent()
    paths = [f"/media/{n}.m4s" for n in range(3000)]
    done = edge.platform.done(edge.platform.plan(prewarm=lines(*paths, size=10), budget_bytes=10**9))
    assert len(edge.origin.fetched) <= 500
    assert done["refused_count"] >= 2500


def test_pins_over_the_cap_are_refused(edge: Edge) -> None:
    edge.start_agent()
    done = edge.platform.done(edge.platform.plan(pin=lines(*(f"/media/{n}.m4s" for n in range(40)))))
    assert done["pinned"] == 20  # a quarter of 4 MiB
    assert done["refused_count"] == 20


def test_an_edge_keeps_within_its_bytes_by_use(edge: Edge) -> None:
    edge.start_agent()
    wait_for(lambda: edge.platform.reports)
    for number in range(150):
        edge.get(f"/media/{number}.m4s")
        edge.get(A)
    wait_for(lambda: edge.platform.last()["occupied_bytes"] <= edge.settings.capacity)
    assert edge.platform.reports[-1]["occupied_bytes"] > 0.9 * edge.settings.capacity
    assert edge.get(A).cache == "HIT"
    assert edge.origin.fetched.count(A) == 1
    assert edge.get("/media/149.m4s").cache == "HIT" and edge.get("/media/3.m4s").cache != "HIT"


def test_one_plan_cannot_empty_an_edge(edge: Edge) -> None:
    paths = [f"/media/{n}.m4s" for n in range(60)]
    for path in paths:
        edge.get(path)
    edge.start_agent()
    done = edge.platform.done(edge.platform.plan(evict=lines(*paths)))
    assert done["evicted_bytes"] < 0.22 * edge.settings.capacity


def test_a_killed_agent_goes_on_and_counts_nothing_twice(edge: Edge) -> None:
    agent = edge.start_agent()
    for path in (A, B):
        edge.get(path)
    edge.platform.done(edge.platform.plan(prewarm=lines(C), pin=lines(B)))
    wait_for(lambda: totals(edge)["miss"] == 2)
    agent.kill()
    agent.wait()
    assert edge.get(B).zone == "pins"
    edge.get(A)
    edge.start_agent()
    wait_for(lambda: totals(edge) == {"hit": 1, "miss": 2, "prewarm": 1, "pinned_hit": 1})
    edge.platform.last()
    assert totals(edge) == {"hit": 1, "miss": 2, "prewarm": 1, "pinned_hit": 1}
    assert len(edge.platform.results["1"]) == 1


def test_an_edge_that_the_platform_forgot_registers_again(edge: Edge) -> None:
    edge.start_agent()
    wait_for(lambda: edge.platform.reports)
    edge.platform.registered.clear()
    wait_for(lambda: edge.platform.registered)
    told = edge.platform.last()
    assert told["capacity_bytes"] == 4 * 2**20


def test_nginx_dies_in_the_middle_of_a_plan(edge: Edge) -> None:
    edge.start_agent()
    edge.origin.pause_s = 0.05
    paths = [f"/media/{n}.m4s" for n in range(60)]
    first = edge.platform.plan(prewarm=lines(*paths))
    wait_for(lambda: len(edge.origin.fetched) > 8)
    edge.kill_nginx()
    edge.start_nginx()
    assert edge.platform.done(first)["status"] == "done"
    again = edge.platform.done(edge.platform.plan(prewarm=lines(*paths)))
    assert again["present"] + again["prewarmed"] == 60
    assert all(edge.get(path).cache == "HIT" for path in paths)


def test_a_log_that_is_moved_away_loses_no_line(edge: Edge) -> None:
    edge.start_agent()
    edge.get(A)
    wait_for(lambda: totals(edge)["miss"] == 1)
    log = edge.settings.folder / "log" / "access.log"
    log.rename(log.with_suffix(".log.1"))
    edge.get(A)
    os.kill(int((edge.settings.folder / "nginx.pid").read_text()), 10)  # SIGUSR1: open a new one
    wait_for(log.exists)
    edge.get(A)
    wait_for(lambda: totals(edge)["hit"] == 2)


def test_viewers_do_not_notice_that_the_platform_is_gone(edge: Edge) -> None:
    edge.start_agent()
    edge.platform.done(edge.platform.plan(prewarm=lines(A)))
    edge.platform.stop()
    over, replies = threading.Event(), list[int]()

    def watch(viewer: int) -> None:
        number = 0
        while not over.is_set():
            replies.append(edge.get(f"/media/{viewer % 2}/{number % 90}.m4s").status)
            number += 1
            time.sleep(0.01)

    viewers = [threading.Thread(target=watch, args=(viewer,)) for viewer in range(4)]
    for viewer in viewers:
        viewer.start()
    time.sleep(float(os.environ.get("EDGE_DEAD_S", "8")))
    over.set()
    for viewer in viewers:
        viewer.join()
    assert set(replies) == {200}
    edge.platform.start()
    wait_for(lambda: totals(edge)["hit"] + totals(edge)["miss"] == len(replies), 60)
    assert "does not answer" in said(edge)


def test_a_platform_that_only_fails_is_asked_ever_more_rarely(edge: Edge) -> None:
    edge.platform.status = 500
    edge.start_agent()
    wait_for(lambda: "refused with 500" in said(edge))
    edge.platform.status = 0
    wait_for(lambda: edge.platform.reports, 30)
    wait_for(lambda: "answers again" in said(edge))


def test_the_state_is_closed_to_others(edge: Edge) -> None:
    edge.start_agent()
    wait_for(lambda: edge.platform.reports)
    for name in ("agent.json", "token", "nginx.conf"):
        assert (Path(edge.settings.folder) / name).stat().st_mode & 0o077 == 0
    assert json.loads((edge.settings.folder / "agent.json").read_text())["edge"] == "e1"
