"""Feedback suspends, teaches and opens reviews; provenance tells who was served what."""

import pytest

from apps.access import services as access
from apps.access.core.callers import Caller
from apps.access.models import AuditEvent
from apps.answers import services
from apps.answers.models import Entry, Feedback, GoldenAnswer, Label
from apps.answers.services import golden, reacting
from tests import factories

pytestmark = pytest.mark.django_db

ASKED = "I lost my password"


@pytest.fixture
def caller() -> Caller:
    return factories.key()[0]


@pytest.fixture
def answer(caller: Caller) -> GoldenAnswer:
    return factories.golden(caller, "How do I reset my password?", "Open Settings.")


def ask(caller: Caller, question: str) -> services.Served:
    served = services.answer(caller, services.Question(question))
    assert served.query_id is not None
    return served


def test_a_bad_word_on_a_promotion_suspends_it_and_opens_a_review(caller: Caller, answer: GoldenAnswer) -> None:
    entry = factories.promotion(caller, answer, ASKED)
    served = ask(caller, ASKED)
    assert served.outcome == "dynamic_hit"
    reaction = reacting.feedback(caller, served.query_id, "bad", "that is another product")  # type: ignore[arg-type]
    entry.refresh_from_db()
    review = entry.verification
    assert reaction.suspended and entry.suspended_at is not None and review is not None
    assert (reaction.verification_id, review.verdict, review.status) == (review.pk, "UNSURE", "done")
    assert "another product" in review.reason
    assert ask(caller, ASKED).answer is None
    assert AuditEvent.objects.filter(verb="suspended", target_id=str(entry.pk)).exists()


@pytest.mark.django_db(transaction=True)
def test_a_person_who_approves_the_review_puts_the_promotion_back(caller: Caller, answer: GoldenAnswer) -> None:
    entry = factories.promotion(caller, answer, ASKED)
    served = ask(caller, ASKED)
    reacting.feedback(caller, served.query_id, "bad")  # type: ignore[arg-type]
    entry.refresh_from_db()
    assert entry.verification is not None
    services.override(caller, entry.verification, "APPROVE", "it is right")
    assert ask(caller, ASKED).answer == "Open Settings."
    again = reacting.feedback(caller, served.query_id, "bad")  # type: ignore[arg-type]
    assert not again.suspended, "a bad word about what was served before the review says nothing new"


def test_a_promotion_without_its_verification_gets_a_review_too(caller: Caller, answer: GoldenAnswer) -> None:
    entry = factories.promotion(caller, answer, ASKED)
    assert entry.verification is not None
    entry.verification.delete()
    reaction = reacting.feedback(caller, ask(caller, ASKED).query_id, "bad")  # type: ignore[arg-type]
    entry.refresh_from_db()
    assert reaction.suspended and reaction.verification_id == entry.verification_id is not None


@pytest.mark.parametrize(("verdict", "same"), [("good", True), ("bad", False)])
def test_feedback_on_a_promotion_is_one_label_per_client(
    caller: Caller, answer: GoldenAnswer, verdict: str, same: bool
) -> None:
    factories.promotion(caller, answer, ASKED)
    query = ask(caller, ASKED).query_id
    for _ in range(3):
        reacting.feedback(caller, query, verdict)  # type: ignore[arg-type]
    label = Label.objects.get()
    assert (label.question, label.golden_question, label.golden) == (ASKED, answer.question, answer)
    assert (label.same, label.source, label.margin) == (same, "feedback", 1.0)
    assert 0.4 < label.similarity < 1
    assert Feedback.objects.count() == 3


def test_an_exact_golden_hit_and_a_miss_teach_nothing(caller: Caller, answer: GoldenAnswer) -> None:
    for question in (answer.question, "Do you ship to Norway?"):
        reacting.feedback(caller, ask(caller, question).query_id, "bad")  # type: ignore[arg-type]
    assert not Label.objects.exists() and Feedback.objects.count() == 2


def test_a_bad_word_on_a_generated_answer_suspends_nothing(caller: Caller) -> None:
    entry = factories.entry(caller, ASKED, "Generated.")
    reaction = reacting.feedback(caller, ask(caller, ASKED).query_id, "bad")  # type: ignore[arg-type]
    entry.refresh_from_db()
    assert (reaction.suspended, entry.suspended_at) == (False, None)


def test_another_workspaces_query_is_not_found(caller: Caller, answer: GoldenAnswer) -> None:
    query = ask(caller, answer.question).query_id
    stranger, _ = factories.key("other")
    with pytest.raises(access.Missing):
        reacting.feedback(stranger, query, "bad")  # type: ignore[arg-type]
    assert not Feedback.objects.exists()


def test_who_was_served_this_is_one_query(caller: Caller, answer: GoldenAnswer) -> None:
    entry = factories.promotion(caller, answer, ASKED)
    exact, promoted = ask(caller, answer.question), ask(caller, ASKED)
    ask(caller, "Do you ship to Norway?")
    stranger, _ = factories.key("other")
    assert {row.pk for row in reacting.served(caller, golden=answer.pk)} == {exact.query_id, promoted.query_id}
    assert [row.pk for row in reacting.served(caller, entry=entry.pk)] == [promoted.query_id]
    assert not reacting.served(caller, golden=answer.pk, version=2).exists()
    assert not reacting.served(stranger, golden=answer.pk).exists()
    golden.retire(caller, answer.pk)
    assert not Entry.objects.exists()
    assert reacting.served(caller, golden=answer.pk).count() == 2, "retiring never rewrites history"
