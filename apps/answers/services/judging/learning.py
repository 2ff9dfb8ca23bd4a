"""The offline judge learns from the namespace's labels, and then looks again at what it was unsure of."""

from __future__ import annotations

from django.db import transaction
from django.db.models import Exists, F, OuterRef, QuerySet
from django.db.models.functions import Abs, Now

from apps.access import services as access
from apps.answers.core.judge import OfflineJudge
from apps.answers.models import Namespace, Verification
from apps.answers.services.judging.labels import examples
from apps.answers.services.judging.surroundings import taught_examples
from apps.answers.services.powers import judge_of

MOST_JUDGED_AGAIN = 2_000


@transaction.atomic
def learn(namespace: Namespace) -> OfflineJudge:
    """Fit the offline judge on the labels there are, keep what it learnt, and queue what it was unsure of."""
    judge = OfflineJudge.fit(taught_examples(namespace))
    namespace = Namespace.objects.select_for_update().get(pk=namespace.pk)
    state = {**judge.to_dict(), "taught": len(examples(namespace))}
    version = judge.version if namespace.judge == Namespace.Judge.OFFLINE else judge_of(namespace).version
    changed = version != namespace.judge_version
    Namespace.objects.filter(pk=namespace.pk).update(judge_state=state, judge_version=version)
    if changed:
        judge_again(namespace, version)
        access.forget_on_commit()
    return judge


def learn_if_taught() -> int:
    """Fit every namespace whose labels or choice of judge changed since the last fit; returns how many."""
    fitted = 0
    for namespace in Namespace.objects.all():
        chosen = namespace.judge_version.split(":")[0] != namespace.judge
        if chosen or namespace.judge_state.get("taught", 0) != len(examples(namespace)):
            learn(namespace)
            fitted += 1
    return fitted


def judge_again(namespace: Namespace, version: str) -> int:
    """Queue what an earlier judge left UNSURE under the new judge's version, newest first."""
    same_pair = Verification.objects.filter(
        namespace=namespace,
        digest=OuterRef("digest"),
        golden=OuterRef("golden"),
        golden_version=OuterRef("golden_version"),
        judge=version,
    )
    unsure = Verification.objects.filter(
        namespace=namespace,
        status=Verification.Status.DONE,
        verdict=Verification.Verdict.UNSURE,
        golden__in_force__number=F("golden_version"),
    ).exclude(Exists(same_pair))
    newest: dict[tuple[bytes, object], object] = {}
    for key, digest, golden in unsure.order_by("-created_at").values_list("pk", "digest", "golden")[:MOST_JUDGED_AGAIN]:
        newest.setdefault((bytes(digest), golden), key)
    return Verification.objects.filter(pk__in=list(newest.values())).update(
        judge=version, status=Verification.Status.QUEUED, attempts=0, sent_at=Now() - 2 * Verification.patience
    )


def review_queue(namespace: Namespace) -> QuerySet[Verification]:
    """Give what waits for a person, most informative first: near the judge's boundary, then most similar."""
    state = namespace.judge_state
    rows = Verification.objects.filter(
        namespace=namespace, status=Verification.Status.DONE, verdict=Verification.Verdict.UNSURE
    ).select_related("golden__in_force", "namespace")
    if not state.get("weights"):
        return rows.order_by("-similarity", "pk")
    # On the boundary the judge's score line equals its threshold; distance along the similarity axis orders the rest.
    middle = state["centre"][0]
    return rows.annotate(doubt=Abs(F("similarity") - middle)).order_by("doubt", "pk")
