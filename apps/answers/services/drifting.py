"""Compare the last hour's questions and the last day's verdicts with the week before."""

from __future__ import annotations

from datetime import timedelta
from typing import Any

from django.db.models import Count, Q, QuerySet
from django.utils import timezone
from django.utils.translation import gettext as _

from apps.answers.core import drift
from apps.answers.core.drift import Drift
from apps.answers.models import Namespace, Query, Verification

EVERY = timedelta(minutes=10)
HOUR, DAY, WEEK = timedelta(hours=1), timedelta(days=1), timedelta(days=7)
MOST_NOW, MOST_BEFORE = 2_000, 5_000
LEAST_NOW, LEAST_BEFORE = 200, 1_000
LEAST_VERDICTS = 50


def watch() -> int:
    """Look at every namespace that was not looked at for ten minutes; returns how many drift."""
    late = Q(drift_at=None) | Q(drift_at__lt=timezone.now() - EVERY)
    drifting = 0
    for namespace in Namespace.objects.filter(late):
        found = [each.as_mapping() for each in (*_questions(namespace), *_verdicts(namespace))]
        Namespace.objects.filter(pk=namespace.pk).update(drift=found, drift_at=timezone.now())
        drifting += bool(found)
    return drifting


def told(drifted: dict[str, Any]) -> str:
    """Write one drift as a sentence."""
    texts = {
        "similarity": _("The median similarity to the golden tier went from %(before).2f to %(now).2f."),
        "grey": _("The share of near misses went from %(before).1f%% to %(now).1f%%."),
        "approvals": _("The judge's approve rate went from %(before).1f%% to %(now).1f%%."),
    }
    scale = 1 if drifted["what"] == "similarity" else 100
    return texts[drifted["what"]] % {name: scale * drifted[name] for name in ("before", "now")}


def _questions(namespace: Namespace) -> list[Drift]:
    start = timezone.now() - HOUR
    asked = Query.objects.filter(namespace=namespace, s_static__isnull=False)
    now = _similar(asked.filter(created_at__gte=start), MOST_NOW)
    before = _similar(asked.filter(created_at__lt=start, created_at__gte=start - WEEK), MOST_BEFORE)
    if len(now) < LEAST_NOW or len(before) < LEAST_BEFORE:
        return []
    levels = ([row[0] for row in part] for part in (before, now))
    grey = ((sum(row[1] for row in part), len(part)) for part in (before, now))
    return [found for found in (drift.similarity(*levels), drift.share("grey", *grey)) if found]


def _similar(rows: QuerySet[Query], most: int) -> list[tuple[float, bool]]:
    newest = rows.order_by("-created_at").values_list("s_static", "grey")[:most]
    return [(level, grey) for level, grey in newest if level is not None]


def _verdicts(namespace: Namespace) -> list[Drift]:
    start = timezone.now() - DAY
    judged = Verification.objects.filter(namespace=namespace, status=Verification.Status.DONE)
    now = _approved(judged.filter(finished_at__gte=start))
    before = _approved(judged.filter(finished_at__lt=start, finished_at__gte=start - WEEK))
    if min(now[1], before[1]) < LEAST_VERDICTS:
        return []
    found = drift.share("approvals", before, now)
    return [found] if found else []


def _approved(rows: QuerySet[Verification]) -> tuple[int, int]:
    approved = Count("id", filter=Q(verdict=Verification.Verdict.APPROVE))
    told = rows.aggregate(approved=approved, judged=Count("id"))
    return told["approved"], told["judged"]
