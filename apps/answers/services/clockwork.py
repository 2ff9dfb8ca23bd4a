"""What the clock does for answers: send again, recover, wake, expire, evict, index, watch the judges."""

from __future__ import annotations

from django.db.models import Count, OuterRef, Subquery
from django.db.models.functions import Now

from apps.answers.core.policy import Policy
from apps.answers.models import Namespace, Query, Replay, Verification
from apps.answers.services import drifting, judging, upkeep, verifying


def tick() -> None:
    """Do what must happen every few seconds."""
    wake()
    for rows in (Verification, Replay):
        rows.recover()
        rows.resend()


def minute() -> None:
    """Do what must happen every minute."""
    upkeep.sweep()
    judging.learn_if_taught()
    verifying.retry_broken()
    judging.watch()
    drifting.watch()


def wake() -> int:
    """Queue the waiting verifications whose question was asked often enough (`judge_after`)."""
    woken = 0
    for namespace in Namespace.objects.filter(verifications__status=Verification.Status.WAITING).distinct():
        asked = (
            Query.objects.filter(namespace=namespace, digest=OuterRef("digest"))
            .values("digest")
            .annotate(times=Count("id"))
            .values("times")
        )
        ready = (
            Verification.objects.filter(namespace=namespace, status=Verification.Status.WAITING)
            .annotate(times=Subquery(asked))
            .filter(times__gte=Policy.from_mapping(namespace.policy).judge_after)
        )
        keys = list(ready.values_list("pk", flat=True)[:1000])
        woken += Verification.objects.filter(pk__in=keys).update(
            status=Verification.Status.QUEUED, sent_at=Now() - Verification.patience
        )
    return woken
