"""Verification and promotion: idempotent, refused when it must be, never twice, never lost."""

from __future__ import annotations

from datetime import timedelta

import pytest
from django.utils import timezone

from apps.answers import services
from apps.answers.core.judge import Judgement, Verdict
from apps.answers.models import Entry, Verification
from apps.answers.services import golden as golden_services
from apps.answers.services import promoting, verifying
from apps.work import services as work
from tests import factories

pytestmark = pytest.mark.django_db
QUESTION, NEAR = "How do I pay?", "what are the ways to pay"


def test_promoting_twice_makes_one_pointer() -> None:
    caller, _ = factories.key()
    golden = factories.golden(caller, QUESTION, "By card.")
    row = factories.verification(golden, NEAR)
    assert [promoting.promote(row), promoting.promote(row)] == ["promoted", "promoted"]
    entry = Entry.objects.get()
    assert (entry.answer, entry.golden, entry.golden_version) == (None, golden, 1)


def test_a_golden_answer_retired_meanwhile_is_not_promoted() -> None:
    caller, _ = factories.key()
    golden = factories.golden(caller, QUESTION, "By card.")
    row = factories.verification(golden, NEAR)
    golden_services.retire(caller, golden.pk)
    assert promoting.promote(row).startswith("refused: this golden version")
    assert Verification.perform(row.pk, services.verify)
    row.refresh_from_db()
    assert row.status == "dropped"
    assert not Entry.objects.exists()


def test_a_newer_answer_of_a_client_stands_and_a_generated_one_gives_way() -> None:
    caller, _ = factories.key()
    golden = factories.golden(caller, QUESTION, "By card.")
    row = factories.verification(golden, NEAR)
    entry = factories.entry(caller, NEAR, "By hand.", origin="client")
    Entry.objects.filter(pk=entry.pk).update(written_at=timezone.now() + timedelta(seconds=5))
    assert promoting.promote(row).startswith("refused: a newer entry")
    Entry.objects.filter(pk=entry.pk).update(origin="generated")
    assert promoting.promote(row) == "promoted"
    assert Entry.objects.get().origin == "golden"


def test_a_paused_namespace_promotes_nothing() -> None:
    caller, _ = factories.key()
    golden = factories.golden(caller, QUESTION, "By card.")
    factories.namespace(caller, paused=True)
    assert promoting.promote(factories.verification(golden, NEAR)) == "refused: the namespace is paused"


def test_two_workers_with_one_verification_judge_it_once() -> None:
    caller, _ = factories.key()
    row = factories.verification(factories.golden(caller, QUESTION, "By card."), NEAR)
    calls: list[str] = []
    assert Verification.perform(row.pk, lambda claimed: calls.append(str(claimed.pk)))
    assert not Verification.perform(row.pk, lambda claimed: calls.append(str(claimed.pk)))
    assert len(calls) == 1


def test_what_a_killed_worker_held_is_freed_and_in_the_end_given_up() -> None:
    caller, _ = factories.key()
    row = factories.verification(factories.golden(caller, QUESTION, "By card."), NEAR)
    for attempt in range(1, Verification.max_attempts + 1):
        claimed = Verification.claim(row.pk)
        assert claimed is not None
        assert claimed.attempts == attempt
        Verification.objects.filter(pk=row.pk).update(leased_until=timezone.now() - timedelta(seconds=1))
        Verification.recover()
    row.refresh_from_db()
    assert (row.status, row.error) == ("failed", "Gave up: the worker was lost each time.")


def test_a_verb_that_fails_fails_its_row_and_not_the_worker() -> None:
    caller, _ = factories.key()
    row = factories.verification(factories.golden(caller, QUESTION, "By card."), NEAR)

    def broken(claimed: Verification) -> None:
        raise RuntimeError("no luck")

    assert not Verification.perform(row.pk, broken)
    row.refresh_from_db()
    assert (row.status, row.error) == ("failed", "RuntimeError: no luck")


def test_lost_messages_are_sent_again_when_the_queue_is_short(valkey: object) -> None:
    caller, _ = factories.key()
    row = factories.verification(factories.golden(caller, QUESTION, "By card."), NEAR)
    assert Verification.resend() == 0
    Verification.objects.filter(pk=row.pk).update(sent_at=timezone.now() - timedelta(minutes=1))
    before = work.depth("judge")
    assert Verification.resend() == 1
    work.postman.messages.join()
    assert work.depth("judge") == before + 1
    assert Verification.resend() == 0


def test_an_old_question_is_not_worth_judging() -> None:
    caller, _ = factories.key()
    golden = factories.golden(caller, QUESTION, "By card.")
    factories.namespace(caller, max_queue_age_s=60)
    row = factories.verification(golden, NEAR)
    Verification.objects.filter(pk=row.pk).update(created_at=timezone.now() - timedelta(hours=1))
    Verification.perform(row.pk, services.verify)
    row.refresh_from_db()
    assert (row.status, row.verdict) == ("dropped", "")


def test_a_failing_judge_is_asked_again_later() -> None:
    caller, _ = factories.key()
    row = factories.verification(factories.golden(caller, QUESTION, "By card."), NEAR, status="done")
    verifying.remember(row, Judgement(Verdict.UNSURE, {}, "failed", broken=True), row.judge)
    Verification.objects.filter(pk=row.pk).update(
        promotion=verifying.BROKEN, judged_at=timezone.now() - timedelta(minutes=2)
    )
    assert verifying.retry_broken() == 1
    row.refresh_from_db()
    assert row.status == "queued"


def test_a_person_overrules_the_judge_both_ways() -> None:
    caller, _ = factories.key()
    golden = factories.golden(caller, QUESTION, "By card.")
    row = factories.verification(golden, NEAR, status="done", verdict="UNSURE")
    assert services.override(caller, row, "APPROVE", "yes").promotion == "promoted"
    assert Entry.objects.count() == 1
    services.override(caller, row, "REJECT", "no, after all")
    assert not Entry.objects.exists()
    label = row.labels.get()
    assert (label.same, label.source) == (False, "curator")


@pytest.mark.parametrize("verdict", ["APPROVE", "REJECT"])
def test_what_a_person_decided_holds_when_the_judge_is_fitted_anew(verdict: str) -> None:
    caller, _ = factories.key()
    golden = factories.golden(caller, QUESTION, "By card.")
    verifying.override(caller, factories.verification(golden, NEAR), verdict, "I know")
    Entry.objects.all().delete()
    later = factories.verification(golden, NEAR, judge="offline:newer")
    assert Verification.perform(later.pk, services.verify)
    later.refresh_from_db()
    assert (later.verdict, later.reason, later.judged_by) == (verdict, "I know", caller.name)
    assert Entry.objects.count() == (verdict == "APPROVE")


def test_a_rejection_takes_back_what_another_judge_had_promoted() -> None:
    caller, _ = factories.key()
    golden = factories.golden(caller, QUESTION, "By card.")
    first = factories.verification(golden, NEAR)
    assert promoting.promote(factories.verification(golden, NEAR, judge="offline:newer")) == "promoted"
    row = verifying.override(caller, first, "REJECT", "")
    assert (row.verdict, row.promotion) == ("REJECT", promoting.RETRACTED)
    assert not Entry.objects.exists()
