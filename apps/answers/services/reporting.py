"""Tell the dashboard how the judge stands, which alarms there are, and whether the embedder works."""

from __future__ import annotations

from collections import Counter
from typing import Any
from uuid import UUID

from django.db.models import Count, Min, Q
from django.urls import reverse
from django.utils import timezone
from django.utils.translation import gettext as _

from apps.access.core.prices import Prices
from apps.answers.models import Namespace, Verification
from apps.answers.services import drifting, judging, powers
from apps.metrics import services as metrics

LONG_QUEUE = 1_000
MOST_REVIEWS = 1_000
WAITING = (Verification.Status.QUEUED, Verification.Status.RUNNING)


def register() -> None:
    """Register with the dashboard."""
    metrics.register("answers", gauge, alarms)
    metrics.register_savings("answers", savings)
    metrics.register_check("embedder", embedder_trouble)
    metrics.register_reviews(waiting)


def gauge(workspace_id: UUID) -> dict[str, Any]:
    """Give the depth and age of the judge's queue, and how many near misses wait for a person."""
    rows = Verification.objects.filter(namespace__workspace_id=workspace_id)
    queue = rows.filter(status__in=WAITING).aggregate(depth=Count("id"), oldest=Min("created_at"))
    unsure = Q(status=Verification.Status.DONE, verdict=Verification.Verdict.UNSURE)
    age = (timezone.now() - queue["oldest"]).total_seconds() if queue["oldest"] else 0
    return {"judge": {"depth": queue["depth"], "oldest_s": round(age, 1), "review": rows.filter(unsure).count()}}


def alarms(workspace_id: UUID) -> list[dict[str, Any]]:
    """List what an operator should look at."""
    rows = Verification.objects.filter(namespace__workspace_id=workspace_id, status__in=WAITING)
    found = [
        {
            "title": _("Promotion is paused in %(name)s") % {"name": row.name},
            "detail": row.promotion_paused,
            "link": reverse("admin:index"),
            "runbook": metrics.runbook("promotion"),
        }
        for row in Namespace.objects.filter(workspace_id=workspace_id).exclude(promotion_paused="")
    ]
    depth = rows[: LONG_QUEUE + 1].count()
    if depth > LONG_QUEUE:
        detail = _("Serving is not affected. Is the judge's endpoint slow, or its worker down?")
        title = _("More than %(count)s near misses wait for the judge") % {"count": f"{LONG_QUEUE:,}"}
        found.append({"title": title, "detail": detail, "runbook": metrics.runbook("queue")})
    for row in Namespace.objects.filter(workspace_id=workspace_id).exclude(drift=[]):
        detail = " ".join(drifting.told(each) for each in row.drift)
        link = reverse("admin:answers_namespace_change", args=[row.pk])
        title = _("What is asked in %(name)s has changed") % {"name": row.name}
        found.append({"title": title, "detail": detail, "link": link, "runbook": metrics.runbook("drift")})
    return found


def waiting(workspace_id: UUID) -> metrics.Waiting:
    """Count the near misses that wait for a person."""
    spaces = Namespace.objects.filter(workspace_id=workspace_id)
    count = sum(judging.review_queue(space)[:MOST_REVIEWS].count() for space in spaces)
    return metrics.Waiting(_("Near misses to review"), count, reverse("admin:index"))


def embedder_trouble() -> str:
    """Say what is wrong with the embedder; empty while it works. The first call loads it."""
    powers.embedder().embed(["ready?"])
    return ""


def savings(counts: Counter[str], prices: Prices) -> list[metrics.Saving]:
    """Count every hit as one upstream call that was not made, at the workspace's prices."""
    hits = counts["static_hit"] + counts["dynamic_hit"]
    worth = {"money": prices.call, "calls": 1, "tokens": prices.tokens, "seconds": prices.seconds}
    return [metrics.Saving(unit, hits * each) for unit, each in worth.items()]
