"""React to what clients say of served answers, and tell who was served what."""

from __future__ import annotations

from dataclasses import dataclass
from uuid import UUID

import numpy as np
from django.db import transaction
from django.db.models import QuerySet
from django.db.models.functions import Now

from apps.access import services as access
from apps.access.core.callers import Caller
from apps.answers.models import Entry, Feedback, GoldenAnswer, GoldenVersion, Label, Query, Verification, tiers
from apps.answers.services import noting, powers
from apps.metrics import services as metrics

SUSPENDED = "suspended by feedback"


@dataclass(frozen=True, slots=True)
class Reaction:
    """What was said, and what followed: the suspended entry's review, if any."""

    feedback: Feedback
    suspended: bool
    verification_id: UUID | None


@dataclass(frozen=True, slots=True)
class Pair:
    """A question that was answered with a golden answer, as the judge and the thresholds see it."""

    golden_id: UUID
    golden_question: str
    similarity: float
    margin: float | None


def feedback(caller: Caller, query_id: UUID, verdict: str, note: str = "") -> Reaction:
    """Keep what a client says of a served answer; a bad word on a promotion suspends it and opens a review.

    A golden answer that was served for its similarity also becomes a label, from which judges and thresholds learn.

    Raises:
        Missing: no such query in this workspace.
    """
    query = _query(caller, query_id)
    pair = _pair(query)
    with transaction.atomic():
        row = Feedback.objects.create(query=query, verdict=verdict, note=note, by=caller.name)
        entry = _suspend(query) if verdict == Feedback.Verdict.BAD else None
        review = _review(caller, query, entry, note) if entry else None
        if pair:
            _label(caller, query, pair, verdict == Feedback.Verdict.GOOD, review)
    metrics.count(query.namespace.workspace_id, noting.CACHE, query.namespace.name, f"feedback:{verdict}")
    return Reaction(row, entry is not None, review.pk if review else None)


def served(
    caller: Caller, *, golden: UUID | None = None, version: int | None = None, entry: UUID | None = None
) -> QuerySet[Query]:
    """Tell who was served a golden answer, one version of it, or an entry: the log's rows, newest first."""
    asked = {"golden_id": golden, "golden_version": version, "entry_id": entry}
    conditions = {name: value for name, value in asked.items() if value is not None}
    rows = Query.objects.filter(namespace__workspace_id=caller.workspace_id, **conditions)
    return rows.select_related("namespace").order_by("-created_at", "-id")


def _query(caller: Caller, query_id: UUID) -> Query:
    rows = Query.objects.select_related("namespace")
    query = rows.filter(pk=query_id, namespace__workspace_id=caller.workspace_id).first()
    if query is None:
        raise access.Missing("This workspace has no such query.")
    return query


def _suspend(query: Query) -> Entry | None:
    """Suspend the promotion that was served, unless it was written anew since.

    The golden answer is held first, as promotion, publication and retirement do.
    """
    if query.entry_id is None or query.golden_id is None:
        return None
    GoldenAnswer.objects.select_for_update(no_key=True).filter(pk=query.golden_id).first()
    entry = (
        Entry.objects.select_for_update(no_key=True, of=("self",))
        .select_related("verification", "namespace")
        .filter(
            pk=query.entry_id,
            golden_id=query.golden_id,
            golden_version=query.golden_version,
            written_at__lte=query.created_at,
            suspended_at=None,
        )
        .first()
    )
    if entry:
        Entry.objects.filter(pk=entry.pk).update(suspended_at=Now())
        metrics.count(entry.namespace.workspace_id, noting.CACHE, entry.namespace.name, "suspended")
    return entry


def _review(caller: Caller, query: Query, entry: Entry, note: str) -> Verification:
    """Hand a suspended promotion to the human queue, where verdicts are UNSURE."""
    said = f"{caller.name} called the answer wrong" + (f": {note}" if note else "")
    verdict = {
        "status": Verification.Status.DONE,
        "verdict": Verification.Verdict.UNSURE,
        "reason": said[:2000],
        "judged_by": "feedback",
        "judged_at": Now(),
        "finished_at": Now(),
        "promotion": SUSPENDED,
    }
    review = entry.verification or _new_review(entry)
    Verification.objects.filter(pk=review.pk).update(**verdict)
    access.record(caller, "suspended", entry, query=str(query.pk), verification=str(review.pk))
    return review


def _new_review(entry: Entry) -> Verification:
    version = GoldenVersion.objects.get(golden_id=entry.golden_id, number=entry.golden_version or 0)
    review, _ = Verification.objects.get_or_create(
        namespace=entry.namespace,
        digest=bytes(entry.digest),
        golden_id=entry.golden_id,
        golden_version=version.number,
        judge=entry.namespace.judge_version,
        defaults={
            "question": entry.question,
            "golden_question": version.question,
            "similarity": _similarity(entry.question, version.question),
            "status": Verification.Status.DONE,
        },
    )
    Entry.objects.filter(pk=entry.pk).update(verification=review)
    return review


def _pair(query: Query) -> Pair | None:
    """Measure a question against the golden answer it was served; None when nothing was judged by similarity."""
    exact_golden = query.entry_id is None and query.reason == "exact"
    if query.golden_id is None or exact_golden:
        return None
    version = GoldenVersion.objects.filter(golden_id=query.golden_id, number=query.golden_version or 0).first()
    if version is None:
        return None
    try:
        return _measured(query, version)
    except Exception:  # feedback is kept whatever an embedder does; only the label is lost
        return None


def _measured(query: Query, version: GoldenVersion) -> Pair:
    embedder = powers.embedder()
    vector = embedder.embed([query.question])[0]
    near = tiers.nearest(query.namespace_id, b"", embedder.name, vector).golden
    own = [row.similarity for row in near if row.golden_id == version.golden_id]
    others = [row.similarity for row in near if row.golden_id != version.golden_id]
    similarity = max(own, default=_similarity(query.question, version.question))
    margin = similarity - others[0] if others else 1.0
    return Pair(version.golden_id, version.question, similarity, margin)


def _similarity(one: str, other: str) -> float:
    left, right = powers.embedder().embed([one, other])
    return float(np.dot(left, right))


def _label(caller: Caller, query: Query, pair: Pair, same: bool, review: Verification | None) -> None:
    """Keep one label per client and pair, so that repeating oneself adds nothing; the last word counts."""
    golden = GoldenAnswer.objects.filter(pk=pair.golden_id).first()
    Label.objects.update_or_create(
        namespace=query.namespace,
        question=query.question,
        golden_question=pair.golden_question,
        golden=golden,
        source=Label.Source.FEEDBACK,
        by=caller.name,
        defaults={
            "similarity": pair.similarity,
            "margin": pair.margin,
            "same": same,
            "verification": review,
        },
    )
