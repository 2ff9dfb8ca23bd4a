"""The golden answers' life: drafted, reviewed by other eyes, published as versions, retired."""

from datetime import timedelta

import pytest
from django.utils import timezone

from apps.access import services as access
from apps.access.core.callers import Caller
from apps.access.models import AuditEvent
from apps.answers import services
from apps.answers.core.text import digest
from apps.answers.models import Entry, GoldenAnswer, GoldenQuestion
from apps.answers.services import golden, powers, promoting
from tests import factories

pytestmark = pytest.mark.django_db

VALUES = {"question": "How do I reset my password?", "answer": "Open Settings.", "aliases": ["Forgot my password"]}


@pytest.fixture
def author() -> Caller:
    return factories.key()[0]


@pytest.fixture
def reviewer(author: Caller) -> Caller:
    return factories.key()[0]


def published(author: Caller, reviewer: Caller, **values: object) -> GoldenAnswer:
    row = golden.draft(author, "default", {**VALUES, **values})
    golden.submit(author, row.pk)
    golden.approve(reviewer, row.pk)
    return golden.publish(author, row.pk)


def again(author: Caller, reviewer: Caller, row: GoldenAnswer, **values: object) -> GoldenAnswer:
    golden.edit(author, row.pk, values)
    golden.submit(author, row.pk)
    golden.approve(reviewer, row.pk)
    return golden.publish(author, row.pk)


def test_a_published_text_is_served_under_its_question_and_every_alias(author: Caller, reviewer: Caller) -> None:
    row = published(author, reviewer, aliases=["Forgot my password", "forgot MY password", "Password gone"])
    assert row.status == "published" and row.in_force is not None and row.in_force.number == 1
    texts = set(GoldenQuestion.objects.values_list("text", flat=True))
    assert texts == {"How do I reset my password?", "Forgot my password", "Password gone"}
    served = services.answer(author, services.Question("password GONE"))
    assert (served.outcome, served.answer, served.golden_id) == ("static_hit", "Open Settings.", row.pk)


def test_an_author_may_not_approve_their_own_text(author: Caller) -> None:
    row = golden.draft(author, "default", VALUES)
    golden.submit(author, row.pk)
    with pytest.raises(access.Conflict, match="somebody else"):
        golden.approve(author, row.pk)


def test_a_person_may_not_approve_in_the_console_what_their_own_key_wrote(author: Caller) -> None:
    person = factories.member("acme", "owner")
    _, secret = factories.key(by=person)
    written_by_key = access.recognise(secret)
    assert written_by_key is not None
    row = golden.draft(written_by_key, "default", VALUES)
    golden.submit(written_by_key, row.pk)
    with pytest.raises(access.Conflict):
        golden.approve(Caller(author.workspace_id, author.scopes, user_id=person.pk), row.pk)


def test_a_team_of_one_may_switch_four_eyes_off(author: Caller) -> None:
    factories.namespace(author, four_eyes=False)
    row = golden.draft(author, "default", VALUES)
    golden.submit(author, row.pk)
    assert golden.approve(author, row.pk).approver == author.name


@pytest.mark.parametrize("act", [golden.approve, golden.publish, golden.retire])
def test_an_act_that_the_state_does_not_allow_is_a_conflict(author: Caller, act: object) -> None:
    row = golden.draft(author, "default", VALUES)
    with pytest.raises(access.Conflict):
        act(author, row.pk)  # type: ignore[operator]


def test_editing_a_published_answer_makes_a_draft_while_the_version_in_force_serves_on(
    author: Caller, reviewer: Caller
) -> None:
    row = published(author, reviewer)
    edited = golden.edit(reviewer, row.pk, {"answer": "Ask your admin."})
    assert (edited.status, edited.author, edited.approver) == ("draft", reviewer.name, "")
    assert services.answer(author, services.Question(VALUES["question"])).answer == "Open Settings."  # type: ignore[arg-type]


def test_an_edit_that_changes_nothing_leaves_the_answer_published(author: Caller, reviewer: Caller) -> None:
    row = published(author, reviewer)
    assert golden.edit(author, row.pk, VALUES).status == "published"
    assert golden.edit(author, row.pk, {"review_by": timezone.now().date()}).status == "published"


def test_promotions_follow_a_new_version_of_the_same_question(author: Caller, reviewer: Caller) -> None:
    row = published(author, reviewer)
    entry = factories.promotion(author, row, "I lost my password")
    again(author, reviewer, row, answer="Ask your admin.", question="how do I reset MY password?")
    entry.refresh_from_db()
    assert entry.golden_version == 2
    served = services.answer(author, services.Question("I lost my password"))
    assert (served.outcome, served.answer, served.golden_version) == ("dynamic_hit", "Ask your admin.", 2)


def test_promotions_are_retracted_when_the_question_changes(author: Caller, reviewer: Caller) -> None:
    row = published(author, reviewer)
    factories.promotion(author, row, "I lost my password")
    again(author, reviewer, row, question="How do I reset my PIN?", aliases=[])
    assert not Entry.objects.exists()
    assert services.answer(author, services.Question("Forgot my password")).answer is None


def test_promotions_are_retracted_when_the_new_version_is_not_valid_yet(author: Caller, reviewer: Caller) -> None:
    row = published(author, reviewer)
    factories.promotion(author, row, "I lost my password")
    again(author, reviewer, row, valid_from=timezone.now() + timedelta(days=1))
    assert not Entry.objects.exists()


def test_a_new_version_ends_the_one_before(author: Caller, reviewer: Caller) -> None:
    row = again(author, reviewer, published(author, reviewer), answer="Ask your admin.")
    second, first = golden.versions(row)
    assert (second.version.number, second.version.ended_at, first.version.number) == (2, None, 1)
    assert first.version.ended_at is not None and first.changes == ()
    assert [(change.field, change.lines[1:]) for change in second.changes] == [
        ("answer", ("-Open Settings.", "+Ask your admin."))
    ]


def test_retiring_takes_questions_and_promotions_out_in_one_go(author: Caller, reviewer: Caller) -> None:
    row = published(author, reviewer)
    factories.promotion(author, row, "I lost my password")
    retired = golden.retire(reviewer, row.pk)
    assert (retired.status, retired.in_force) == ("retired", None)
    assert not Entry.objects.exists() and not GoldenQuestion.objects.exists()
    assert services.answer(author, services.Question("I lost my password")).answer is None
    with pytest.raises(access.Conflict):
        golden.retire(reviewer, row.pk)


def test_a_verification_of_a_retired_answer_promotes_nothing(author: Caller, reviewer: Caller) -> None:
    row = published(author, reviewer)
    late = factories.verification(row, "I lost my password", verdict="APPROVE")
    golden.retire(reviewer, row.pk)
    assert promoting.promote(late) == "refused: this golden version is no longer in force"
    assert not Entry.objects.exists()


def test_a_retired_answer_can_be_written_anew_as_the_next_version(author: Caller, reviewer: Caller) -> None:
    row = published(author, reviewer)
    golden.retire(author, row.pk)
    row = again(author, reviewer, row, answer="It is back.")
    assert row.in_force is not None and row.in_force.number == 2


def test_two_answers_in_force_cannot_share_a_question(author: Caller, reviewer: Caller) -> None:
    published(author, reviewer)
    with pytest.raises(access.Conflict, match="already answers"):
        published(author, reviewer, question="FORGOT my password", aliases=[])
    assert GoldenQuestion.objects.count() == 2


def test_two_answers_may_share_a_question_one_after_the_other(author: Caller, reviewer: Caller) -> None:
    noon = timezone.now() - timedelta(minutes=1)
    published(author, reviewer, valid_until=noon)
    published(author, reviewer, valid_from=noon, answer="From noon on.")
    assert services.answer(author, services.Question("Forgot my password")).answer == "From noon on."


def test_only_what_was_never_published_can_be_deleted(author: Caller, reviewer: Caller) -> None:
    kept = published(author, reviewer)
    with pytest.raises(access.Conflict, match="retire it instead"):
        golden.remove(author, kept.pk)
    gone = golden.draft(author, "default", {**VALUES, "question": "Another?"})
    golden.remove(author, gone.pk)
    assert list(GoldenAnswer.objects.all()) == [kept]


def test_another_workspace_finds_nothing(author: Caller, reviewer: Caller) -> None:
    row = published(author, reviewer)
    stranger, _ = factories.key("other")
    for act in (golden.of, golden.submit, golden.approve, golden.publish, golden.retire, golden.remove):
        with pytest.raises(access.Missing):
            act(stranger, row.pk)
    with pytest.raises(access.Missing):
        golden.edit(stranger, row.pk, {"answer": "Mine now."})


@pytest.mark.parametrize(
    ("field", "value"),
    [
        ("question", "  "),
        ("question", "nul\0"),
        ("question", "half \ud800"),
        ("question", "x" * 16_385),
        ("answer", ""),
        ("answer", "nul\0"),
        ("aliases", [""]),
        ("aliases", ["a"] * 201),
        ("tags", ["x" * 61]),
        ("tags", ["\ud800"]),
        ("attachments", ["javascript:alert(1)"]),
        ("attachments", ["https://[bad"]),
    ],
)
def test_a_text_that_is_not_valid_is_refused_and_the_field_named(author: Caller, field: str, value: object) -> None:
    with pytest.raises(access.Invalid) as refused:
        golden.draft(author, "default", {**VALUES, field: value})
    assert {name for name, _ in refused.value.errors} == {field}
    assert not GoldenAnswer.objects.exists()


def test_a_window_must_not_end_before_it_begins(author: Caller) -> None:
    now = timezone.now()
    with pytest.raises(access.Invalid) as refused:
        golden.draft(author, "default", {**VALUES, "valid_from": now, "valid_until": now})
    assert refused.value.errors == [("valid_until", "valid_until must be later than valid_from.")]


def test_close_questions_with_other_answers_are_conflicts_and_with_the_same_answer_duplicates(
    author: Caller, reviewer: Caller
) -> None:
    published(author, reviewer)
    other = golden.draft(author, "default", {"question": "How can I reset my password?", "answer": "Call us."})
    (rival,) = golden.conflicts(other)
    assert rival.kind == "conflict" and rival.similarity > 0.9
    assert rival.margin == pytest.approx(1 - rival.similarity, abs=1e-5)
    same = golden.draft(author, "default", {"question": "How can I reset my password?", "answer": "open  settings."})
    assert [found.kind for found in golden.conflicts(same)] == ["duplicate"]
    far = golden.draft(author, "default", {"question": "Do you ship to Norway?", "answer": "Yes."})
    assert golden.conflicts(far) == []


def test_the_conflict_map_pairs_what_is_in_force(author: Caller, reviewer: Caller) -> None:
    published(author, reviewer)
    published(author, reviewer, question="How can I reset my password?", aliases=[], answer="Call us.")
    published(author, reviewer, question="Do you ship to Norway?", aliases=[], answer="Yes.")
    pairs = golden.conflict_map(factories.namespace(author))
    assert {frozenset((one.text, rival.question)) for one, rival in pairs} == {
        frozenset(("How do I reset my password?", "How can I reset my password?"))
    }


def test_every_act_is_in_the_audit_log(author: Caller, reviewer: Caller) -> None:
    row = published(author, reviewer)
    golden.retire(reviewer, row.pk)
    events = AuditEvent.objects.filter(target_id=str(row.pk)).order_by("created_at")
    assert [(event.verb, event.key_id) for event in events] == [
        ("drafted", author.key_id),
        ("submitted", author.key_id),
        ("approved", reviewer.key_id),
        ("published", author.key_id),
        ("retired", reviewer.key_id),
    ]


def test_review_and_expiry_are_asked_of_what_is_in_force(author: Caller, reviewer: Caller) -> None:
    now = timezone.now()
    soon = published(author, reviewer, valid_until=now + timedelta(days=3), review_by=now.date())
    golden.draft(author, "default", {**VALUES, "review_by": now.date()})
    assert list(golden.due_for_review(author)) == [soon]
    assert list(golden.expiring(author, 7)) == [soon]
    assert list(golden.expiring(author, 1)) == list(golden.expired(author)) == []


def test_publishing_writes_the_digest_and_the_vector_that_serving_looks_for(author: Caller, reviewer: Caller) -> None:
    published(author, reviewer)
    row = GoldenQuestion.objects.get(text=VALUES["question"])
    assert bytes(row.digest) == digest("HOW do I reset my password?")
    assert row.vector == pytest.approx(powers.embedder().embed([row.text])[0].tolist(), abs=1e-3)
