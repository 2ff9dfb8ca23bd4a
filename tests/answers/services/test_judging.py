"""Labels teach the judge, thresholds are proposed, judges are watched, policies are replayed."""

from __future__ import annotations

import pytest

from apps.access import services as access
from apps.access.core.callers import Caller
from apps.answers import services
from apps.answers.core.judge import OfflineJudge
from apps.answers.models import CanaryRun, Label, Namespace, PolicyChange, Replay, Verification
from apps.answers.services import judging, policies
from apps.answers.services.judging import LabelledPair
from tests import factories

pytestmark = pytest.mark.django_db
TOPICS = [
    *("reset my password", "close my account", "change my address", "order a new card", "report a lost card"),
    *("raise my limit", "cancel a transfer", "download a statement", "add a second user", "turn on alerts"),
]
WAYS = (
    "How do I {}?",
    "how can i {}",
    "Please tell me how to {}",
    "I want to {}",
    "what must I do to {}",
    "help me {}",
)


@pytest.fixture
def taught() -> Namespace:
    """A namespace with ten golden answers and labels of both kinds."""
    caller, _ = factories.key()
    for topic in TOPICS:
        factories.golden(caller, WAYS[0].format(topic), f"This is how to {topic}.")
    namespace = policies.namespace(caller.workspace_id, "default")
    pairs = [
        LabelledPair(way.format(topic), WAYS[0].format(other), topic == other)
        for place, topic in enumerate(TOPICS)
        for way in WAYS[1:]
        for other in (topic, TOPICS[(place + 1) % len(TOPICS)])
    ]
    judging.add_pairs(caller, namespace, pairs)
    judging.learn(namespace)
    namespace.refresh_from_db()
    return namespace


def caller_of(namespace: Namespace) -> Caller:
    return factories.key(namespace.workspace.slug)[0]


def test_labels_teach_the_offline_judge_and_its_version_changes(taught: Namespace) -> None:
    assert taught.judge_version.startswith("offline:")
    assert taught.judge_version != "offline:unfitted"
    judge = OfflineJudge.from_dict(taught.judge_state)
    assert judge.fit_ is not None
    assert judge.fit_.labels == 100


def test_the_same_pair_uploaded_twice_is_one_label(taught: Namespace) -> None:
    before = Label.objects.count()
    pair = LabelledPair(WAYS[1].format(TOPICS[0]), WAYS[0].format(TOPICS[0]), True)
    judging.add_pairs(caller_of(taught), taught, [pair])
    assert Label.objects.count() == before


def test_one_bad_pair_keeps_all_out(taught: Namespace) -> None:
    before = Label.objects.count()
    with pytest.raises(access.Invalid) as caught:
        judging.add_pairs(caller_of(taught), taught, [LabelledPair("fine", "fine", True), LabelledPair("", "x", True)])
    assert caught.value.errors[0][0] == "pairs.1.question"
    assert Label.objects.count() == before


def test_what_the_judge_was_unsure_of_is_judged_again_once_it_has_learnt(taught: Namespace) -> None:
    golden = taught.golden_answers.get(question=WAYS[0].format(TOPICS[0]))
    old = factories.verification(
        golden, "how would one reset my password", status="done", verdict="UNSURE", judge="offline:unfitted"
    )
    Namespace.objects.filter(pk=taught.pk).update(judge_version="offline:unfitted")
    judging.learn(taught)
    old.refresh_from_db()
    assert (old.status, old.judge) == ("queued", Namespace.objects.get(pk=taught.pk).judge_version)


def test_a_fitted_judge_approves_and_promotes(taught: Namespace) -> None:
    golden = taught.golden_answers.get(question=WAYS[0].format(TOPICS[0]))
    row = factories.verification(
        golden, "tell me how to reset my password", judge=taught.judge_version, similarity=0.97, margin=0.5
    )
    assert Verification.perform(row.pk, services.verify)
    row.refresh_from_db()
    assert (row.verdict, row.promotion) == ("APPROVE", "promoted")
    assert taught.entries.get().golden == golden


def test_calibration_proposes_thresholds_that_can_be_applied_and_undone(taught: Namespace) -> None:
    caller = caller_of(taught)
    row = judging.calibrate(caller, taught, 0.3)
    assert row.labels == 100
    assert row.proposal["tau_static"] is not None
    judging.apply(caller, row)
    assert policies.namespace(taught.workspace_id, "default").policy["tau_static"] == row.proposal["tau_static"]
    policies.undo(caller, PolicyChange.objects.filter(namespace=taught).first())  # type: ignore[arg-type]
    assert policies.namespace(taught.workspace_id, "default").policy["tau_static"] == 0.85


def test_a_calibration_without_a_proposal_cannot_be_applied(taught: Namespace) -> None:
    row = judging.calibrate(caller_of(taught), taught, 0.0001)
    assert row.proposal["more_labels"] > 0
    with pytest.raises(access.Conflict):
        judging.apply(caller_of(taught), row)


def test_canaries_are_kept_from_learning_and_run_once_an_hour(taught: Namespace) -> None:
    pairs = [LabelledPair(f"how do I {TOPICS[0]} quickly", WAYS[0].format(TOPICS[0]), True)]
    judging.add_pairs(caller_of(taught), taught, pairs, canary=True)
    assert len(judging.examples(taught)) == 100
    judging.watch()
    judging.watch()
    assert CanaryRun.objects.get().total == 1


def test_promotion_pauses_by_itself_and_people_may_still_promote(taught: Namespace) -> None:
    caller = caller_of(taught)
    golden = taught.golden_answers.get(question=WAYS[0].format(TOPICS[0]))
    for number in range(2):
        row = factories.verification(
            golden,
            f"a wrong one {number}",
            judge=taught.judge_version,
            judged_by=taught.judge_version,
            status="done",
            verdict="APPROVE",
        )
        services.override(caller, row, "REJECT", "not the same")
    assert len(judging.watch()) == 1
    taught.refresh_from_db()
    assert "2 of only 2" in taught.promotion_paused
    row = factories.verification(
        golden, "tell me how to reset my password", judge=taught.judge_version, similarity=0.97, margin=0.5
    )
    Verification.perform(row.pk, services.verify)
    row.refresh_from_db()
    assert row.promotion == "refused: promotion is paused"
    assert services.override(caller, row, "APPROVE", "surely").promotion == "promoted"
    judging.resume_promotion(caller, taught)
    taught.refresh_from_db()
    assert taught.promotion_paused == ""


def test_a_replay_compares_a_candidate_with_the_policy_in_force(taught: Namespace) -> None:
    questions = [way.format(topic) for topic in TOPICS for way in WAYS] * 2
    row = judging.start_replay(caller_of(taught), taught, {"tau_static": 0.99, "tau_dynamic": 0.99}, questions)
    assert Replay.perform(row.pk, judging.perform_replay)
    result = Replay.objects.get(pk=row.pk).result
    assert result["requests"] == 120
    assert result["current"]["static_share"] >= result["candidate"]["static_share"] > 0
    assert 0 <= result["candidate"]["error_lower95"] <= result["candidate"]["error_upper95"] <= 1
    assert result["candidate"]["judge_calls"] > result["current"]["judge_calls"]


def test_recorded_traffic_is_replayed_without_questions(taught: Namespace) -> None:
    caller = caller_of(taught)
    factories.query(caller, WAYS[1].format(TOPICS[0]))
    row = judging.start_replay(caller, taught, {})
    Replay.perform(row.pk, judging.perform_replay)
    assert Replay.objects.get(pk=row.pk).result["requests"] == 1


def test_a_candidate_that_is_no_policy_is_refused(taught: Namespace) -> None:
    with pytest.raises(access.Invalid):
        judging.start_replay(caller_of(taught), taught, {"tau_static": 3})
