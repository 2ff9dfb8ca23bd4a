"""Watch the judges: canaries on a schedule, agreement with people, and a pause when approvals cannot be trusted."""

from __future__ import annotations

from datetime import timedelta

from django.db import transaction
from django.db.models.functions import Now

from apps.access import services as access
from apps.access.core.callers import Caller
from apps.answers.core import governance
from apps.answers.core.judge import Pair, Verdict
from apps.answers.core.policy import Policy
from apps.answers.models import CanaryRun, Label, Namespace, Verification
from apps.answers.services import powers
from apps.answers.services.judging.surroundings import surroundings

CANARIES_EVERY = timedelta(hours=1)
RECENT_LABELS = 1_000


def watch() -> list[str]:
    """Run due canaries and pause promotion where a judge's approvals passed the error budget; returns the reasons."""
    reasons = []
    for namespace in Namespace.objects.all():
        if canaries_due(namespace):
            run_canaries(namespace)
        budget = Policy.from_mapping(namespace.policy).error_budget
        why = governance.why_pause(judge_record(namespace), budget)
        if why and not namespace.promotion_paused:
            pause_promotion(namespace, why)
            reasons.append(f"{namespace.name}: {why}")
    return reasons


def judge_record(namespace: Namespace) -> governance.Record:
    """Compare what the judge now in force said with what people said of the same pairs, canaries included."""
    rows = Label.objects.filter(namespace=namespace, features__judge=namespace.judge_version)
    rows = rows.filter(source__in=(Label.Source.CURATOR, Label.Source.FEEDBACK)).order_by("-created_at")
    said = [
        (Verdict(features["judge_said"]), same)
        for features, same in rows.values_list("features", "same")[:RECENT_LABELS]
    ]
    seen = governance.record(said)
    run = CanaryRun.objects.filter(namespace=namespace, judge=namespace.judge_version).order_by("-created_at").first()
    if run is None:
        return seen
    return governance.Record(
        seen.total + run.total,
        seen.decided + run.decided,
        seen.agreed + run.agreed,
        seen.approved + run.approved,
        seen.false_approvals + run.false_approvals,
    )


def tokens_per_verdict(namespace: Namespace) -> int:
    """Give what one verdict of this namespace's judge cost lately, in tokens."""
    rows = Verification.objects.filter(namespace=namespace, tokens__gt=0).order_by("-created_at")
    spent = list(rows.values_list("tokens", flat=True)[:200])
    return round(sum(spent) / len(spent)) if spent else 0


def canaries_due(namespace: Namespace) -> bool:
    """Say whether the canaries are to run: there are some, and the judge is new or an hour has passed."""
    if not Label.objects.filter(namespace=namespace, canary=True).exists():
        return False
    recent = CanaryRun.objects.filter(namespace=namespace, judge=namespace.judge_version)
    return not recent.filter(created_at__gt=Now() - CANARIES_EVERY).exists()


def run_canaries(namespace: Namespace) -> CanaryRun:
    """Let the judge say what it thinks of the canary set."""
    judge = powers.judge_of(namespace)
    around, enabled = surroundings(namespace), Policy.from_mapping(namespace.policy).guards
    pairs = []
    for label in Label.objects.filter(namespace=namespace, canary=True).select_related("golden__in_force"):
        answer = label.golden.in_force.answer if label.golden and label.golden.in_force else ""
        vector = powers.embedder().embed([label.question])[0]
        features = around.features(vector, label.golden_id, label.similarity, label.margin)
        texts = label.question, label.golden_question, answer
        pair = Pair(*texts, label.similarity, label.margin, features, enabled)
        pairs.append((judge.judge(pair).verdict, label.same))
    seen = governance.record(pairs)
    return CanaryRun.objects.create(
        namespace=namespace,
        judge=namespace.judge_version,
        total=seen.total,
        decided=seen.decided,
        agreed=seen.agreed,
        approved=seen.approved,
        false_approvals=seen.false_approvals,
        false_approve_upper=seen.false_approve_upper(),
    )


@transaction.atomic
def pause_promotion(namespace: Namespace, why: str, caller: Caller | None = None) -> None:
    """Stop promoting; judging goes on, people still may promote."""
    Namespace.objects.filter(pk=namespace.pk).update(promotion_paused=why[:255])
    if caller:
        access.record(caller, "paused promotion in", namespace, why=why)
    access.forget_on_commit()


@transaction.atomic
def resume_promotion(caller: Caller, namespace: Namespace) -> None:
    """Let the judge promote again, after somebody looked."""
    Namespace.objects.filter(pk=namespace.pk).update(promotion_paused="")
    access.record(caller, "resumed promotion in", namespace)
    access.forget_on_commit()
