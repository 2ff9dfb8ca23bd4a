"""The dynamic tier's upkeep: hits are folded once, time and size are kept, purges hit what they name."""

from datetime import timedelta
from typing import Any

import pytest
from django.db import connection
from django.utils import timezone

from apps.access import services as access
from apps.access.core.callers import Caller
from apps.access.models import AuditEvent
from apps.answers import services
from apps.answers.models import Entry, GoldenVersion, Query, Watermark
from apps.answers.services import indexing, upkeep
from tests import factories

pytestmark = pytest.mark.django_db


@pytest.fixture
def caller() -> Caller:
    return factories.key()[0]


def plain(caller: Caller, question: str, **more: Any) -> Entry:
    return factories.entry(caller, question, vector=None, **more)


def old_query(caller: Caller, entry: Entry, seconds: int) -> Query:
    """Log a hit some seconds ago, by the database's clock."""
    with connection.cursor() as cursor:
        cursor.execute(
            "SELECT overlay(gen_random_uuid()::text placing left(id, 8) || '-' || substr(id, 9) from 1 for 13)::uuid"
            " FROM lpad(to_hex(floor(extract(epoch FROM clock_timestamp() - %s * interval '1 s') * 1000)::bigint),"
            " 12, '0') AS id",
            [seconds],
        )
        pk = cursor.fetchone()[0]
    return factories.query(
        caller, entry.question, "dynamic_hit", entry_id=entry.pk, pk=pk,
        created_at=timezone.now() - timedelta(seconds=seconds),
    )  # fmt: skip


def questions() -> list[str]:
    return sorted(Entry.objects.values_list("question", flat=True))


def test_hits_are_folded_once_however_often_the_clock_asks(caller: Caller) -> None:
    entry, other = plain(caller, "a"), plain(caller, "b")
    last = [old_query(caller, entry, seconds) for seconds in (300, 200, 100)][-1]
    assert upkeep.fold_hits() == 1
    assert upkeep.fold_hits() == 0
    entry.refresh_from_db()
    other.refresh_from_db()
    assert (entry.hits, entry.last_hit_at, other.hits) == (3, last.created_at, 0)


def test_what_was_asked_a_moment_ago_waits_for_the_next_fold(caller: Caller) -> None:
    entry = plain(caller, "a")
    old_query(caller, entry, 0)
    assert upkeep.fold_hits() == 0
    Watermark.objects.update(until=timezone.now() - timedelta(seconds=120))
    old_query(caller, entry, 60)
    assert upkeep.fold_hits() == 1


def test_expired_entries_go_by_the_databases_clock(caller: Caller, monkeypatch: pytest.MonkeyPatch) -> None:
    with connection.cursor() as cursor:
        cursor.execute("SELECT now()")
        now = cursor.fetchone()[0]
    monkeypatch.setattr(timezone, "now", lambda: now + timedelta(days=9))  # this process's clock runs ahead
    plain(caller, "gone", expires_at=now - timedelta(seconds=1))
    plain(caller, "stays", expires_at=now + timedelta(seconds=60))
    assert upkeep.expire() == 1
    assert questions() == ["stays"]


def test_a_used_entry_dies_at_its_time_all_the_same(caller: Caller) -> None:
    plain(caller, "popular", hits=1000, last_hit_at=timezone.now(), expires_at=timezone.now() - timedelta(seconds=9))
    assert upkeep.expire() == 1


def test_the_least_recently_used_go_first_and_promotions_last(caller: Caller) -> None:
    space = factories.namespace(caller, max_entries=3)
    answer = factories.golden(caller, "How do I reset my password?", "Open Settings.")
    now = timezone.now()
    ages = {"oldest but hit": 9, "old": 5, "young": 1}
    for question, days in ages.items():
        plain(caller, question, written_at=now - timedelta(days=days))
    Entry.objects.filter(question="oldest but hit").update(last_hit_at=now)
    factories.promotion(caller, answer, "promoted", vector=None, written_at=now - timedelta(days=30))
    factories.namespace(caller, "roomy")
    plain(caller, "elsewhere", space="roomy", written_at=now - timedelta(days=99))
    assert upkeep.evict() == 1
    assert questions() == ["elsewhere", "oldest but hit", "promoted", "young"]
    factories.namespace(caller, max_entries=1)
    assert upkeep.evict() == 2
    assert questions() == ["elsewhere", "promoted"]
    assert Entry.objects.filter(namespace=space).count() == 1


def test_promotions_end_with_their_golden_answers_validity(caller: Caller) -> None:
    answer = factories.golden(caller, "How do I reset my password?", "Open Settings.")
    factories.promotion(caller, answer, "promoted", vector=None)
    plain(caller, "plain")
    assert upkeep.retract_ended() == 0
    GoldenVersion.objects.update(valid_until=timezone.now() - timedelta(minutes=1))
    assert services.answer(caller, services.Question("promoted")).answer is None
    assert upkeep.retract_ended() == 1
    assert questions() == ["plain"]


def test_a_step_that_fails_does_not_stop_the_others(
    caller: Caller, monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    def fold_hits() -> int:
        raise RuntimeError("no")

    monkeypatch.setattr(upkeep, "fold_hits", fold_hits)
    plain(caller, "gone", expires_at=timezone.now() - timedelta(seconds=9))
    done = upkeep.sweep()
    assert indexing.Aside.thread is not None
    indexing.Aside.thread.join()
    assert (done["fold_hits"], done["expire"], done["tend_aside"]) == (0, 1, 1)
    assert "fold_hits failed" in caplog.text


@pytest.mark.parametrize(
    ("wanted", "left"),
    [
        ({"origin": "client"}, ["a", "promoted"]),
        ({"client": "backend"}, ["by key", "promoted"]),
        ({"q": "KEY"}, ["a", "promoted"]),
        ({"namespace": "default"}, []),
        ({"namespace": "default", "origin": "golden"}, ["a", "by key"]),
        ({"namespace": "elsewhere"}, ["a", "by key", "promoted"]),
        ({"created_before": "2001-01-01T00:00:00Z"}, ["a", "by key", "promoted"]),
        ({"created_after": "2001-01-01T00:00:00Z"}, []),
    ],
)
def test_a_purge_deletes_what_matches_everything_named(caller: Caller, wanted: dict[str, Any], left: list[str]) -> None:
    answer = factories.golden(caller, "How do I reset my password?", "Open Settings.")
    plain(caller, "a", by="backend")
    plain(caller, "by key", by=caller.name, origin="client")
    factories.promotion(caller, answer, "promoted", vector=None)
    assert upkeep.purge(caller, wanted) == 3 - len(left)
    assert questions() == left


def test_a_purge_by_id_golden_answer_or_client_key(caller: Caller) -> None:
    answer = factories.golden(caller, "How do I reset my password?", "Open Settings.")
    one, _two = plain(caller, "1"), plain(caller, "2", by=caller.name)
    factories.promotion(caller, answer, "promoted", vector=None)
    assert upkeep.purge(caller, {"ids": [one.pk]}) == 1
    assert upkeep.purge(caller, {"golden": answer.pk, "version": 2}) == 0
    assert upkeep.purge(caller, {"golden": answer.pk}) == 1
    assert upkeep.purge(caller, {"client": str(caller.key_id)}) == 1


@pytest.mark.parametrize("wanted", [{}, {"namespace": ""}, {"ids": []}, {"q": None}])
def test_an_empty_purge_is_refused(caller: Caller, wanted: dict[str, Any]) -> None:
    plain(caller, "stays")
    with pytest.raises(access.Invalid):
        upkeep.purge(caller, wanted)
    assert questions() == ["stays"]


def test_a_purge_stays_in_its_workspace_and_leaves_a_trace(caller: Caller) -> None:
    row = plain(caller, "ours")
    stranger, _ = factories.key("other")
    assert upkeep.purge(stranger, {"ids": [row.pk]}) == 0
    with pytest.raises(access.Missing):
        upkeep.remove(stranger, row.pk)
    assert upkeep.purge(caller, {"q": "ours"}) == 1
    event = AuditEvent.objects.get(verb="purged entries of", workspace_id=caller.workspace_id)
    assert event.detail == {"count": 1, "filter": {"q": "ours"}}
