"""Edges that lie, go away and come back; plans within their limits; pins over the cap."""

from __future__ import annotations

from datetime import timedelta
from typing import Any

import pytest
from django.utils import timezone

from apps.metrics import services as metrics
from apps.segments.models import Edge, Held, Plan
from apps.segments.services import clockwork, planning, reporting
from tests import factories
from tests.clients import Http
from tests.segments import makers

pytestmark = pytest.mark.django_db
EDGES, PINS = "/api/v1/segments/edges/", "/api/v1/segments/pins/"
REPORT = {"occupied_bytes": 0, "capacity_bytes": 10**8, "load": 0.2, "retransmission": 0.0, "turnover_s": 900.0}


def registered(secret: str, name: str = "north", **report: Any) -> str:
    edge = str(Http(secret).post(EDGES, {"name": name}).json()["id"])
    assert Http(secret).post(f"{EDGES}{edge}/report/", {**REPORT, **report}).status_code == 200
    return edge


def test_an_edge_registers_once_begins_in_shadow_and_is_found_by_its_name() -> None:
    _, secret = factories.key()
    edge = registered(secret)
    assert Http(secret).post(EDGES, {"name": "north"}).status_code == 409
    (row,) = Http(secret).get(f"{EDGES}?name=north").json()["results"]
    assert (row["id"], row["shadow"]) == (edge, True)


@pytest.mark.parametrize(
    "lie",
    [
        {"load": 7}, {"load": "high"}, {"retransmission": -0.1}, {"occupied_bytes": -1}, {"occupied_bytes": 10**9},
        {"turnover_s": None}, {"added": [{"url": "x", "bytes": -5}]}, {"outcomes": {"hit": {"requests": "many"}}},
        {"mode": "angry"}, {"capacity_bytes": 10**30},
    ],
)  # fmt: skip
def test_an_edge_that_lies_is_told_so_and_changes_nothing(lie: dict[str, Any]) -> None:
    _, secret = factories.key()
    edge = registered(secret, occupied_bytes=5)
    assert Http(secret).post(f"{EDGES}{edge}/report/", {**REPORT, **lie}).status_code == 422
    assert Edge.objects.get().occupied_bytes == 5


def test_a_report_that_comes_twice_counts_once(valkey: Any) -> None:
    caller, secret = factories.key()
    told = {"sequence": 1, "outcomes": {"hit": {"requests": 3, "bytes": 300}}, "origin_bytes": {"demand": 70}}
    edge = registered(secret, **told)
    Http(secret).post(f"{EDGES}{edge}/report/", {**REPORT, **told})
    metrics.flush()
    counts = metrics.snapshot(caller.workspace_id)["segments"]
    assert (counts["outcomes"]["hit"], counts["counts"]["origin:demand"]) == (3, 70)


def test_what_lies_at_an_edge_follows_its_reports() -> None:
    _, secret = factories.key()
    edge = registered(secret, whole=True, added=[{"url": "/a", "bytes": 1}, {"url": "/b", "bytes": 2}])
    Http(secret).post(f"{EDGES}{edge}/report/", {**REPORT, "added": [{"url": "/c", "bytes": 3}], "removed": ["/a"]})
    assert set(Held.objects.values_list("path", flat=True)) == {"/b", "/c"}
    Http(secret).post(f"{EDGES}{edge}/report/", {**REPORT, "whole": True, "added": [{"url": "/d", "bytes": 4}]})
    assert set(Held.objects.values_list("path", flat=True)) == {"/d"}


def test_a_silent_edge_gets_no_plans_and_raises_an_alarm_until_it_is_back() -> None:
    caller, secret = factories.key()
    makers.video(caller)
    edge = registered(secret)
    Edge.objects.update(seen_at=timezone.now() - timedelta(minutes=5))
    assert clockwork.plan_due() == 0
    assert [alarm["title"] for alarm in reporting.alarms(caller.workspace_id)] == ["No word from the edge north"]
    Http(secret).post(f"{EDGES}{edge}/report/", REPORT)
    assert reporting.alarms(caller.workspace_id) == []
    assert clockwork.plan_due() == 1
    assert clockwork.plan_due() == 0


def test_a_storm_of_viewers_stays_within_the_budget_of_requests_and_bytes() -> None:
    caller, secret = factories.key()
    row = makers.video(caller, segments=900)
    edge = registered(secret)
    events = [makers.event(row, position=60.0 * n % 5_000, session=f"s{n}", viewer=f"v{n}") for n in range(500)]
    assert Http(secret).post("/api/v1/segments/views/", events).json()["accepted"] == 500
    plan = planning.make(Edge.objects.get(pk=edge))
    assert plan is not None
    assert 0 < len(plan.prewarm) <= 200
    assert sum(line["bytes"] for line in plan.prewarm) <= plan.budget_bytes


def test_pins_over_their_share_are_left_out_with_a_reason() -> None:
    caller, secret = factories.key()
    row = makers.video(caller, segments=200)
    edge = registered(secret)
    pin = Http(secret).post(PINS, {"video": str(row.pk), "reason": "exam"})
    assert pin.status_code == 201
    assert Http(secret).post(PINS, {"video": str(row.pk)}).status_code == 409
    plan = planning.make(Edge.objects.get(pk=edge))
    assert plan is not None
    assert 0 < sum(line["bytes"] for line in plan.pin) <= 0.05 * 10**8
    assert plan.refused
    assert Http(secret).delete(f"{PINS}{pin.json()['id']}/").status_code == 204


def test_a_full_edge_lets_go_of_what_nobody_comes_for() -> None:
    caller, secret = factories.key()
    wanted, forgotten = makers.video(caller, "wanted", 50), makers.video(caller, "forgotten", 50)
    held = [
        {"url": one.path, "bytes": one.bytes} for row in (wanted, forgotten) for one in row.segments.filter(rendition=0)
    ]
    size = sum(each["bytes"] for each in held)
    edge = registered(secret, occupied_bytes=size, capacity_bytes=size, whole=True, added=held)
    plays = [makers.event(wanted, position=6.0 * n, session=f"s{n}", viewer=f"v{n}", ago_s=1) for n in range(40)]
    Http(secret).post("/api/v1/segments/views/", plays)
    plan = planning.make(Edge.objects.get(pk=edge))
    assert plan is not None
    assert plan.evict
    assert all(str(forgotten.pk) in line["url"] for line in plan.evict)
    assert all(line["reason"] for line in plan.evict)


def test_the_origin_limit_falls_with_retransmissions() -> None:
    _, secret = factories.key()
    edge = registered(secret)
    assert Edge.objects.get().limit_bps == pytest.approx(80e6)
    Edge.objects.update(limit_changed_at=timezone.now() - timedelta(minutes=6))
    Http(secret).post(f"{EDGES}{edge}/report/", {**REPORT, "retransmission": 0.2})
    assert Edge.objects.get().limit_bps == pytest.approx(72e6)


def test_a_collapse_of_hits_is_examined_and_told() -> None:
    caller, secret = factories.key()
    edge = registered(secret)
    for held in [85] * 20 + [10] * 8:
        outcomes = {
            "hit": {"requests": 1, "bytes": held * 10**5},
            "miss": {"requests": 1, "bytes": (100 - held) * 10**5},
        }
        Http(secret).post(f"{EDGES}{edge}/report/", {**REPORT, "outcomes": outcomes})
    (alarm,) = reporting.alarms(caller.workspace_id)
    assert alarm["title"] == "Hits collapse at north"


def test_another_workspaces_edge_plan_and_pin_are_not_there() -> None:
    caller, secret = factories.key()
    _, their = factories.key("other")
    row = makers.video(caller)
    edge = registered(secret)
    clockwork.plan_due()
    plan = Plan.objects.get()
    for method, path, body in (
        ("GET", f"{EDGES}{edge}/", None),
        ("GET", f"{EDGES}{edge}/plan/", None),
        ("POST", f"{EDGES}{edge}/report/", REPORT),
        ("POST", f"{EDGES}{edge}/plan/{plan.pk}/result/", {}),
        ("POST", PINS, {"video": str(row.pk)}),
        ("GET", f"/api/v1/segments/videos/{row.pk}/", None),
        ("GET", f"/api/v1/segments/videos/{row.pk}/segments/", None),
        ("POST", "/api/v1/segments/predict/", {"viewer": "a", "video": str(row.pk), "position_s": 0}),
    ):
        assert Http(their).call(method, path, body).status_code == 404, path
