"""Tell the dashboard how the inference cache stands: speed-up, agreement, jobs, streams."""

from __future__ import annotations

from collections import Counter
from datetime import timedelta
from typing import Any
from uuid import UUID

from django.db.models import Count, Q
from django.db.models.functions import Now
from django.urls import reverse
from django.utils.translation import gettext as _

from apps.access.core.prices import Prices
from apps.inference.models import Job, Network, Stream
from apps.metrics import services as metrics

CACHE = "inference"
RECENT = 20
TARGET = 0.98
NAMED = 3  # of many failures
LATE = timedelta(hours=1)


def register() -> None:
    """Register with the dashboard."""
    metrics.register(CACHE, gauge, alarms)
    metrics.register_savings(CACHE, savings)


def gauge(workspace_id: UUID) -> dict[str, Any]:
    """Give speed-up and agreement over the newest jobs, by frames, and what runs and waits."""
    rows = Job.objects.filter(workspace_id=workspace_id)
    counts = rows.aggregate(
        queued=Count("id", filter=Q(status=Job.Status.QUEUED)), running=Count("id", filter=Q(status=Job.Status.RUNNING))
    )
    streams = Stream.objects.filter(workspace_id=workspace_id, status=Stream.Status.OPEN)
    newest = rows.filter(source=None).exclude(stats={}).order_by("-created_at")
    stats = list(newest.values_list("stats", flat=True)[:RECENT])
    return {
        "speedup": weighted(stats, "speedup"),
        "agreement": weighted(stats, "agreement"),
        "jobs": counts,
        "streams": streams.count(),
    }


def weighted(stats: list[dict[str, Any]], name: str) -> float | None:
    """Average a statistic over jobs by their frames; speed-ups by time, so that long dense jobs count in full."""
    known = [(int(row["frames"]), float(row[name])) for row in stats if row.get(name) and row.get("frames")]
    frames = sum(number for number, _ in known)
    if not frames:
        return None
    if name == "speedup":
        return round(frames / sum(number / value for number, value in known), 3)
    return round(sum(number * value for number, value in known) / frames, 4)


def alarms(workspace_id: UUID) -> list[dict[str, Any]]:
    """List what an operator should look at: failed preparations, agreement under the target."""
    found: list[dict[str, Any]] = []
    failed = Network.objects.filter(workspace_id=workspace_id, status=Network.Status.FAILED)
    if newest := list(failed.order_by("-pk").values_list("name", "error")[:NAMED]):
        link = reverse("admin:inference_network_changelist")
        title = _("Models could not be prepared")
        found.append(metrics.one_of_many(title, link, "model", newest, failed.count()))
    recent = Job.objects.filter(workspace_id=workspace_id, source=None, created_at__gt=Now() - LATE)
    low = recent.filter(mode=Job.Mode.BUDGET, stats__agreement__lt=TARGET - 0.05).select_related("network")
    for row in low.order_by("-created_at")[:3]:
        levels = {"model": row.network.name, "share": 100 * row.stats["agreement"]}
        detail = _("%(model)s agreed with the plain run on %(share).1f%% of the frames compared.") % levels
        link = reverse("admin:inference_job_change", args=[row.pk])
        title = _("Agreement is low in %(job)s") % {"job": row}
        found.append({"title": title, "detail": detail, "link": link, "runbook": metrics.runbook("agreement")})
    return found


def savings(counts: Counter[str], prices: Prices) -> list[metrics.Saving]:
    """Count frames that were not computed anew, and processor time against the plain engine."""
    seconds = counts["saved_ms"] / 1e3
    return [
        metrics.Saving("money", seconds / 3_600 * prices.cpu_hour),
        metrics.Saving("frames", counts["reused"] + counts["stored_frames"]),
        metrics.Saving("cpu_seconds", seconds),
    ]
