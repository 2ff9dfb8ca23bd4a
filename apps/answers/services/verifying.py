"""Verification, off the request path: judge a near miss, remember the verdict, promote what was approved."""

from __future__ import annotations

import time
from datetime import timedelta

from django.db.models import F
from django.db.models.functions import Now

from apps.access import services as access
from apps.access.core.callers import Caller
from apps.answers.core.judge import Judgement, OfflineJudge, Pair, Verdict
from apps.answers.core.policy import Policy
from apps.answers.models import GoldenAnswer, Label, Query, Verification
from apps.answers.services import noting, powers, promoting
from apps.answers.services.judging.surroundings import measured
from apps.metrics import services as metrics

BROKEN = "not judged: the judge failed"
RETRY_AFTER = timedelta(minutes=1)


def verify(row: Verification) -> None:
    """Judge one claimed verification; what nobody wants to know any more is dropped and counted."""
    if why := _unwanted(row):
        drop(row, why)
        return
    golden = GoldenAnswer.objects.select_related("in_force").get(pk=row.golden_id)
    if golden.in_force is None or golden.in_force.number != row.golden_version:
        drop(row, "this golden version is no longer in force")
        return
    if word := _persons_word(row):
        remember(row, Judgement(Verdict(word.verdict), word.scores, word.reason), word.judged_by)
        if word.verdict == Verdict.APPROVE:
            promoting.promote(row)
        return
    started = time.perf_counter()
    judge = powers.judge_of(row.namespace)
    features = measured(row) if isinstance(judge, OfflineJudge) else row.features
    enabled = Policy.from_mapping(row.namespace.policy).guards
    pair = Pair(
        row.question, row.golden_question, golden.in_force.answer, row.similarity, row.margin, features, enabled
    )
    judgement = judge.judge(pair)
    _count(row, judgement, (time.perf_counter() - started) * 1000)
    remember(row, judgement, row.judge)
    if judgement.verdict is Verdict.APPROVE:
        promoting.promote(row)
    elif judgement.broken:
        Verification.objects.filter(pk=row.pk).update(promotion=BROKEN)


def retry_broken(limit: int = 200) -> int:
    """Queue again, a few at a time, what a failing judge could not decide a minute ago."""
    late = Verification.objects.filter(promotion=BROKEN, judged_at__lt=Now() - RETRY_AFTER)
    keys = list(late.order_by("-judged_at").values_list("pk", flat=True)[:limit])
    return Verification.objects.filter(pk__in=keys, promotion=BROKEN).update(
        status=Verification.Status.QUEUED, promotion="", attempts=0, sent_at=Now() - 2 * Verification.patience
    )


def remember(row: Verification, judgement: Judgement, by: str) -> None:
    """Keep a verdict on its row; it holds for the policy's `verdict_ttl_s`."""
    row.verdict, row.scores, row.reason = judgement.verdict.value, dict(judgement.scores), judgement.reason
    row.tokens, row.judged_by = judgement.tokens, by
    Verification.objects.filter(pk=row.pk).update(
        verdict=row.verdict,
        scores=row.scores,
        reason=row.reason[:2000],
        tokens=row.tokens,
        judged_by=by,
        judged_at=Now(),
    )


def override(caller: Caller, row: Verification, verdict: str, reason: str) -> Verification:
    """Let a curator decide: teach the judge with a label, promote or retract at once."""
    said = Verdict(verdict)
    before = {"judge": row.judged_by, "judge_said": row.verdict} if row.verdict and row.judged_by == row.judge else {}
    remember(row, Judgement(said, {}, reason or "decided by a person"), caller.name)
    Verification.objects.filter(pk=row.pk).update(status=Verification.Status.DONE, finished_at=Now())
    if said is not Verdict.UNSURE:
        Label.objects.update_or_create(
            verification=row,
            source=Label.Source.CURATOR,
            defaults={
                "namespace": row.namespace,
                "question": row.question,
                "golden_question": row.golden_question,
                "golden": row.golden,
                "similarity": row.similarity,
                "margin": row.margin,
                "features": {**row.features, **before},
                "same": said is Verdict.APPROVE,
                "by": caller.name,
            },
        )
    if said is Verdict.APPROVE:
        promoting.promote(row)
    else:
        promoting.retract(row)
    access.record(caller, f"overrode with {said.value}", row, reason=reason)
    row.refresh_from_db()
    return row


def drop(row: Verification, why: str) -> None:
    """Close a verification unjudged."""
    Verification.objects.filter(pk=row.pk).update(
        status=Verification.Status.DROPPED, error=why, finished_at=Now(), leased_until=None
    )
    metrics.count(row.namespace.workspace_id, noting.CACHE, row.namespace.name, "verification:dropped")


def _persons_word(row: Verification) -> Verification | None:
    """Find what a person decided of this pair under any judge: a judge fitted anew is not asked again."""
    same = Verification.objects.filter(
        namespace=row.namespace_id, digest=row.digest, golden=row.golden_id, golden_version=row.golden_version
    )
    valid = timedelta(seconds=Policy.from_mapping(row.namespace.policy).verdict_ttl_s)
    decided = same.filter(verdict__in=[Verdict.APPROVE, Verdict.REJECT], judged_at__gt=Now() - valid)
    return decided.exclude(judged_by__in=["", F("judge")]).order_by("-judged_at").first()


def _unwanted(row: Verification) -> str:
    policy = Policy.from_mapping(row.namespace.policy)
    asked_at = Query.objects.filter(namespace=row.namespace, digest=row.digest).order_by("-created_at").first()
    age = row.claimed_at - (asked_at.created_at if asked_at else row.created_at) if row.claimed_at else None
    if age and age.total_seconds() > policy.max_queue_age_s:
        return "nobody asked for so long that it is not worth judging"
    return ""


def _count(row: Verification, judgement: Judgement, ms: float) -> None:
    workspace, name = row.namespace.workspace_id, row.namespace.name
    metrics.count(workspace, noting.CACHE, name, f"verdict:{judgement.verdict.value}")
    metrics.count(workspace, noting.CACHE, name, "judge_tokens", judgement.tokens)
    metrics.count(workspace, noting.CACHE, name, "judge_ms", round(ms))
