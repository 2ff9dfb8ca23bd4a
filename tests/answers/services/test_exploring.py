"""Looking before changing: a trial decides as serving does, misses are grouped, thresholds are read off."""

from __future__ import annotations

from datetime import timedelta

import pytest
from django.utils import timezone

from apps.access import services as access
from apps.access.core.callers import Caller
from apps.answers import services
from apps.answers.models import GoldenAnswer, Label, Namespace, Query
from apps.answers.services import exploring, golden, policies
from tests import factories

pytestmark = pytest.mark.django_db
QUESTION = "How do I reset my password?"


@pytest.fixture
def caller() -> Caller:
    caller, _ = factories.key()
    factories.golden(caller, QUESTION, "Open Settings.", "forgot my password")
    factories.golden(caller, "How do I close my account?", "Write to us.")
    return caller


def space(caller: Caller) -> Namespace:
    return policies.namespace(caller.workspace_id, "default")


@pytest.mark.parametrize(
    "question",
    [
        QUESTION,
        "FORGOT my  password",
        "how can I reset my password",
        "how do I not reset my password",
        "who wrote Faust",
    ],
)
def test_a_trial_says_what_serving_does_and_leaves_no_trace(caller: Caller, question: str) -> None:
    trial = exploring.try_question(caller, space(caller), question)
    assert not Query.objects.exists()
    served = services.answer(caller, services.Question(question))
    assert (trial.outcome, trial.answer or None) == (served.outcome, served.answer)
    if trial.decision:
        assert trial.decision.similarity_static == pytest.approx(served.s_static, abs=1e-5)
        assert trial.decision.guards == served.guards


def test_a_trial_tells_why_a_question_is_never_cached(caller: Caller) -> None:
    trial = exploring.try_question(caller, space(caller), "What is the weather right now?")
    assert (trial.outcome, trial.why_never) == ("bypass", "about_now")


def test_a_trial_can_pretend_that_drafts_were_published(caller: Caller) -> None:
    golden.draft(caller, "default", {"question": "Who wrote Faust?", "answer": "Goethe.", "aliases": []})
    assert exploring.try_question(caller, space(caller), "who wrote the Faust?").outcome == "miss"
    trial = exploring.try_question(caller, space(caller), "who wrote the Faust?", drafts=True)
    assert (trial.outcome, trial.answer, trial.candidates[0].draft) == ("static_hit", "Goethe.", True)


def test_an_empty_trial_is_refused(caller: Caller) -> None:
    with pytest.raises(access.Invalid):
        exploring.try_question(caller, space(caller), " ")


def test_misses_are_grouped_by_meaning_and_covered_ones_left_out(caller: Caller) -> None:
    for question, times in {
        "where is my parcel": 3,
        "where's my parcel?": 2,
        "who wrote Faust": 4,
        QUESTION: 9,
    }.items():
        for _ in range(times):
            factories.query(caller, question, "miss")
    factories.key("other")
    groups = [(group.leader, group.asked, len(group.questions)) for group in exploring.unanswered(space(caller))]
    assert groups == [("where is my parcel", 5, 2), ("who wrote Faust", 4, 1)]


def test_thresholds_are_read_off_requests_and_labels(caller: Caller) -> None:
    for similarity, outcome in ((0.95, "static_hit"), (0.9, "static_hit"), (0.6, "miss")):
        factories.query(caller, f"asked {similarity}", outcome, s_static=similarity)
    factories.query(caller, QUESTION, "static_hit", s_static=1.0, reason="exact")
    for similarity, same in ((0.92, True), (0.88, False)):
        pair = {"question": f"q {similarity}", "golden_question": QUESTION, "similarity": similarity}
        Label.objects.create(namespace=space(caller), **pair, same=same, source="curator")
    found = exploring.explore(space(caller))
    at = found.grid.index(0.85)
    assert (found.requests, found.exact, found.near[at], found.near[found.grid.index(0.5)]) == (4, 1, 2, 3)
    assert (found.labelled[at], found.wrong[at], found.wrong[found.grid.index(0.9)]) == (2, 1, 0)
    assert found.wrong_upper[at] > 0.5


def test_coverage_counts_by_tag_and_lists_the_dates_ahead(caller: Caller) -> None:
    paid, closed = GoldenAnswer.objects.order_by("pk")
    soon = timezone.now() + timedelta(days=9)
    GoldenAnswer.objects.filter(pk=paid.pk).update(tags=["login", "help"], valid_until=soon)
    GoldenAnswer.objects.filter(pk=closed.pk).update(review_by=(timezone.now() + timedelta(days=3)).date())
    for _ in range(3):
        factories.query(caller, QUESTION, "static_hit", golden_id=paid.pk, golden_version=1)
    found = exploring.coverage(space(caller))
    assert [(tag.name, tag.answers, tag.served, tag.unserved) for tag in found.tags] == [
        ("help", 1, 3, 0),
        ("login", 1, 3, 0),
        ("", 1, 0, 1),
    ]
    assert [(each.what, each.golden.pk) for each in found.dates] == [("due", closed.pk), ("ends", paid.pk)]
