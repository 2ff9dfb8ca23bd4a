"""Buckets become rows, whatever happens to Valkey in between."""

import time
from datetime import UTC, datetime

import pytest

from apps.access import services as access
from apps.access.models import Workspace
from apps.metrics import services
from apps.metrics.models import Tally
from apps.metrics.services import counting

pytestmark = pytest.mark.django_db


@pytest.fixture
def acme() -> Workspace:
    return Workspace.objects.create(slug="acme", name="Acme")


def counted(acme: Workspace, number: int, name: str = "static_hit", *, ago_s: float = 120, now: float) -> None:
    bucket = int((now - ago_s) // 10) * 10
    access.valkey().hincrby(counting.bucket_key(bucket), f"{acme.pk}|answers|default|{name}", number)


def test_folding_twice_writes_the_same_rows(acme: Workspace) -> None:
    now = 1_800_000_000.0
    counted(acme, 3, ago_s=70, now=now)
    counted(acme, 4, ago_s=80, now=now)
    counted(acme, 5, "ms:20", ago_s=80, now=now)
    services.fold(now)
    first = list(Tally.objects.filter(span_s=60).values("minute", "counts", "latency"))
    services.fold(now)
    services.fold(now + 20)
    assert list(Tally.objects.filter(span_s=60).values("minute", "counts", "latency")) == first
    (row,) = first
    assert row["minute"] == datetime.fromtimestamp(now - 80, UTC).replace(second=0)
    assert row["counts"] == {"static_hit": 7}
    assert row["latency"][20] == sum(row["latency"]) == 5


def test_what_was_folded_survives_a_flushed_valkey(acme: Workspace) -> None:
    now = 1_800_000_000.0
    counted(acme, 3, now=now)
    services.fold(now)
    access.valkey().flushdb()
    counted(acme, 1, now=now)
    counted(acme, 2, "miss", now=now)
    services.fold(now)
    assert Tally.objects.get(span_s=60).counts == {"static_hit": 3, "miss": 2}


def test_counts_that_come_ten_minutes_late_are_folded(acme: Workspace) -> None:
    now = 1_800_000_000.0
    counted(acme, 1, now=now)
    services.fold(now)
    counted(acme, 6, ago_s=600, now=now)
    services.fold(now)
    assert sum(row.counts["static_hit"] for row in Tally.objects.filter(span_s=60)) == 7


def test_the_running_minute_waits(acme: Workspace) -> None:
    now = 1_800_000_000.0
    counted(acme, 1, ago_s=0, now=now)
    assert services.fold(now) == 0
    assert services.fold(now + 60) == 1


def test_a_clock_that_stood_still_for_an_hour_catches_up(acme: Workspace) -> None:
    now = 1_800_000_000.0
    counted(acme, 1, ago_s=7_000, now=now)
    services.fold(now - 6_900)
    counted(acme, 1, ago_s=3_600, now=now)
    services.fold(now)
    assert Tally.objects.filter(span_s=60).count() == 2


def test_counts_of_a_deleted_workspace_are_left_alone(acme: Workspace) -> None:
    counted(acme, 1, now=time.time())
    acme.delete()
    assert services.fold() == 0


def test_a_subject_may_contain_the_separator(acme: Workspace) -> None:
    services.count(acme.pk, "answers", "a|b", "miss")
    services.flush()
    services.fold(time.time() + 70)
    assert Tally.objects.get(span_s=60).subject == "a|b"


def test_a_subject_longer_than_its_column_does_not_stop_the_fold(acme: Workspace) -> None:
    services.count(acme.pk, "answers", "x" * 500, "miss")
    services.count(acme.pk, "answers", "default", "miss")
    services.flush()
    services.fold(time.time() + 70)
    assert {row.subject for row in Tally.objects.filter(span_s=60)} == {"default", "x" * 120}


def hours() -> list[tuple[datetime, dict[str, int], int]]:
    rows = Tally.objects.filter(span_s=3_600).order_by("minute")
    return [(row.minute, row.counts, sum(row.latency)) for row in rows]


def test_a_complete_hour_is_rolled_up_once_and_again_when_late_counts_come(acme: Workspace) -> None:
    hour = 1_800_000_000.0
    counted(acme, 3, ago_s=600, now=hour)
    counted(acme, 2, "ms:9", ago_s=600, now=hour)
    counted(acme, 4, ago_s=300, now=hour)
    services.fold(hour - 60)
    assert hours() == []
    services.fold(hour)
    services.fold(hour + 20)
    began = datetime.fromtimestamp(hour - 3_600, UTC)
    assert hours() == [(began, {"static_hit": 7}, 2)]
    counted(acme, 5, ago_s=280, now=hour)
    services.fold(hour + 40)
    assert hours() == [(began, {"static_hit": 12}, 2)]


def test_a_quiet_end_of_an_hour_does_not_keep_it_from_being_rolled_up(acme: Workspace) -> None:
    hour = 1_800_000_000.0
    counted(acme, 3, ago_s=3_000, now=hour)
    services.fold(hour - 2_000)
    services.fold(hour + 5_000)
    assert [counts for _, counts, _ in hours()] == [{"static_hit": 3}]
