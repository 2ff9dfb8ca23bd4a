"""Series and snapshots: right, small, and of one workspace only."""

import json
import time
from datetime import UTC, datetime, timedelta
from typing import Any
from uuid import UUID, uuid4

import pytest

from apps.access import services as access
from apps.access.models import Workspace
from apps.metrics import services
from apps.metrics.models import Tally
from apps.metrics.services import buckets, counting, standing

pytestmark = pytest.mark.django_db


def workspace(slug: str = "acme") -> UUID:
    return Workspace.objects.create(slug=slug, name=slug.title()).pk


def serve(pk: UUID, subject: str = "default", **counts: int) -> None:
    for name, number in counts.items():
        services.count(pk, "answers", subject, name.replace("__", ":"), number)
    services.flush()


def summed(points: list[dict[str, Any]], name: str) -> int:
    return sum(point["counts"].get(name, 0) for point in points)


def test_two_workspaces_never_see_each_other() -> None:
    acme, other = workspace(), workspace("other")
    serve(acme, "secret", static_hit=7)
    serve(other, miss=2)
    services.fold(time.time() + 70)
    buckets.forget()
    assert "secret" not in json.dumps(services.snapshot(other))
    assert services.snapshot(other)["answers"]["requests"] == 2
    for window, step in ((900, 10), (86_400, 900)):
        points = services.series(other, "answers", window, step)
        assert (summed(points, "static_hit"), summed(points, "miss")) == (0, 2)
        assert summed(services.series(other, "answers", window, step, "secret"), "static_hit") == 0


def test_a_snapshot_tells_shares_rates_and_namespaces() -> None:
    acme = workspace()
    serve(acme, static_hit=5, dynamic_hit=3, miss=1, bypass=1, origin__golden=6, grey=2)
    serve(acme, "other", miss=10)
    services.observe(acme, "answers", "default", 4.0)
    services.flush()
    answers = services.snapshot(acme)["answers"]
    assert answers["outcomes"] == {"static_hit": 5, "dynamic_hit": 3, "miss": 11, "bypass": 1}
    assert (answers["hit_share"], answers["golden_share"]) == (0.4, 0.3)
    assert answers["counts"] == {"origin:golden": 6, "grey": 2}
    assert answers["per_s"] > 0
    assert answers["subjects"]["default"]["golden_share"] == 0.6
    assert answers["subjects"]["other"]["hit_share"] == 0
    assert answers["latency_ms"]["p50"] == pytest.approx(4.0, rel=0.26)


def test_a_snapshot_of_nothing_is_whole() -> None:
    found = services.snapshot(uuid4())
    assert {"at", "answers", "inference", "segments", "alarms"} <= set(found)
    assert found["answers"]["golden_share"] is None


def test_a_snapshot_stays_small_and_keeps_the_busiest() -> None:
    acme = workspace()
    for cache in services.CACHES:
        for number in range(60):
            subject = f"{number:03d} {'x' * 110}"
            for name in (*services.OUTCOMES[cache], "origin:golden", *(f"guard:{n}" for n in range(8))):
                services.count(acme, cache, subject, name, 1_000_000 + number)
            services.observe(acme, cache, subject, 10 + number)
    services.flush()
    found = services.snapshot(acme)
    assert len(json.dumps(found, separators=(",", ":")).encode()) <= 8_192
    assert next(iter(found["answers"]["subjects"])).startswith("059")


def test_long_alarms_do_not_make_a_snapshot_long(monkeypatch: pytest.MonkeyPatch) -> None:
    alarms = [{"title": "t" * 5_000, "detail": "d" * 5_000, "link": "/admin/"}] * 50
    monkeypatch.setattr(standing, "_alarms", [lambda workspace_id: alarms])
    assert len(json.dumps(services.snapshot(workspace()), separators=(",", ":")).encode()) <= 8_192


def test_a_broken_gauge_does_not_stop_the_snapshot(monkeypatch: pytest.MonkeyPatch) -> None:
    def broken(workspace_id: UUID) -> dict[str, Any]:
        raise ValueError("no")

    monkeypatch.setattr(standing, "_gauges", {"answers": broken})
    acme = workspace()
    serve(acme, miss=1)
    found = services.snapshot(acme)
    assert found["answers"]["requests"] == 1
    assert any("answers" in alarm["title"] for alarm in found["alarms"])


def test_a_registered_gauge_is_in_its_cache(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(standing, "_gauges", {"answers": lambda pk: {"judge": {"depth": 3}}})
    assert services.snapshot(workspace())["answers"]["judge"] == {"depth": 3}


def test_a_series_has_a_point_for_every_step() -> None:
    acme = workspace()
    serve(acme, miss=4)
    points = services.series(acme, "answers", 900, 10)
    assert len(points) == 90
    assert [point["requests"] for point in points if point["requests"]] == [4]
    assert points[0]["golden_share"] is None


def test_a_series_survives_a_flushed_valkey() -> None:
    acme = workspace()
    bucket = int(time.time() - 180) // 10 * 10
    access.valkey().hincrby(counting.bucket_key(bucket), f"{acme}|answers|default|static_hit", 5)
    services.fold()
    access.valkey().flushdb()
    buckets.forget()
    assert summed(services.series(acme, "answers", 900, 60), "static_hit") == 5
    assert summed(services.series(acme, "answers", 900, 10), "static_hit") == 5


def test_nothing_is_counted_twice_when_row_and_bucket_tell_the_same() -> None:
    acme = workspace()
    serve(acme, static_hit=5)
    services.fold(time.time() + 70)
    for window, step in ((900, 10), (3_600, 60), (86_400, 900), (7 * 86_400, 7_200)):
        assert summed(services.series(acme, "answers", window, step), "static_hit") == 5


def test_an_old_quiet_workspace_costs_no_walk_through_days_of_buckets(monkeypatch: pytest.MonkeyPatch) -> None:
    acme = workspace()
    Tally.objects.create(
        workspace_id=acme, cache="answers", subject="default", minute=datetime.now(UTC) - timedelta(days=6)
    )
    asked: list[int] = []
    real = buckets.fetch

    def fetch(starts: list[int]) -> list[dict[buckets.Key, buckets.Sum]]:
        asked.extend(starts)
        return real(starts)

    monkeypatch.setattr(buckets, "fetch", fetch)
    services.series(acme, "answers", 7 * 86_400, 7_200)
    assert len(asked) <= 721


def test_days_are_read_from_hours_and_the_minutes_after_them() -> None:
    acme = workspace()
    hour = datetime.now(UTC).replace(minute=0, second=0, microsecond=0)
    rows = {"workspace_id": acme, "cache": "answers", "subject": "default"}
    for ago, number in ((30, 100), (3, 20)):
        at = hour - timedelta(hours=ago)
        Tally.objects.create(**rows, minute=at, span_s=3_600, counts={"miss": number})
        Tally.objects.create(**rows, minute=at + timedelta(minutes=7), counts={"miss": number})
    Tally.objects.create(**rows, minute=hour - timedelta(minutes=90), counts={"miss": 3})
    serve(acme, miss=1)
    assert summed(services.series(acme, "answers", 7 * 86_400, 7_200), "miss") == 124
    assert summed(services.series(acme, "answers", 86_400, 900), "miss") == 24


def test_a_minute_known_only_as_a_row_is_spread_over_its_steps() -> None:
    acme = workspace()
    minute = datetime.now(UTC).replace(second=0, microsecond=0) - timedelta(minutes=5)
    Tally.objects.create(
        workspace_id=acme, cache="answers", subject="default", minute=minute, counts={"miss": 13}, latency=[0, 7]
    )
    found = [point["counts"]["miss"] for point in services.series(acme, "answers", 900, 10) if point["requests"]]
    assert (sum(found), max(found), len(found)) == (13, 3, 6)
