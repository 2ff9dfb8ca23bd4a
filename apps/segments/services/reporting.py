"""Tell the dashboard how the segment cache stands: byte hits, origin bytes, viewers, edges, collapses."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator
from datetime import timedelta
from typing import Any
from uuid import UUID

from django.db.models.functions import Now
from django.urls import reverse
from django.utils.translation import gettext as _
from django.utils.translation import gettext_lazy as lazy

from apps.access.core.prices import Prices
from apps.metrics import services as metrics
from apps.segments.models import Edge, Event, Video
from apps.segments.services import edges

CACHE = "segments"
NAMED = 3  # of many failures
LIVE = timedelta(minutes=1)
WORDS = {
    "prediction_latency": lazy("predictions are slow"),
    "features_fresh": lazy("features are old"),
    "access_pattern": lazy("viewers ask for other videos than usual"),
}


def register() -> None:
    """Register with the dashboard."""
    metrics.register(CACHE, gauge, alarms)
    metrics.register_savings(CACHE, savings)


def gauge(workspace_id: UUID) -> dict[str, Any]:
    """Give the byte hit rate over all edges, who is watching, and how many edges are heard of."""
    rows = [row for row in Edge.objects.filter(workspace_id=workspace_id) if not edges.lost(row)]
    known = [(row.byte_hit, row.capacity_bytes or 1) for row in rows if row.byte_hit is not None]
    whole = sum(size for _hit, size in known)
    watching = Event.objects.filter(workspace_id=workspace_id, at__gt=Now() - LIVE)
    return {
        "byte_hit": round(sum(hit * size for hit, size in known) / whole, 4) if known else None,
        "viewers": watching.values("session").distinct().count(),
        "edges": len(rows),
    }


def alarms(workspace_id: UUID) -> list[dict[str, Any]]:
    """List what an operator should look at: collapses, edges that are silent or fell back, videos that failed."""
    found = []
    for row in Edge.objects.filter(workspace_id=workspace_id, seen_at__isnull=False):
        link = reverse("admin:segments_edge_change", args=[row.pk])
        for title, detail, runbook in _of_edge(row):
            found.append({"title": title, "detail": detail, "link": link, "runbook": metrics.runbook(runbook)})
    failed = Video.objects.filter(workspace_id=workspace_id, status=Video.Status.FAILED)
    if newest := list(failed.order_by("-pk").values_list("title", "error")[:NAMED]):
        link = reverse("admin:segments_video_changelist") + "?status__exact=failed"
        title = _("Videos could not be ingested")
        found.append(metrics.one_of_many(title, link, "video", newest, failed.count()))
    return found


def _of_edge(row: Edge) -> Iterator[tuple[str, str, str]]:
    """Say what is wrong with an edge: title, detail, runbook."""
    name = {"name": row.name}
    if row.collapsed:
        failed = ", ".join(str(WORDS.get(check, check)) for check in row.collapsed["failed"]) or _("no check says why")
        levels = {"usual": 100 * row.collapsed["usual"], "now": 100 * row.collapsed["now"], "failed": failed}
        detail = _("Byte hits fell from %(usual).0f%% to %(now).0f%%: %(failed)s.") % levels
        yield _("Hits collapse at %(name)s") % name, detail, "collapse"
    if edges.lost(row):
        detail = _("It goes on as a plain LRU cache; nothing is prewarmed.")
        yield _("No word from the edge %(name)s") % name, detail, "edge"
    elif row.mode == "fallback":
        detail = _("The plan lost to LRU there, so the edge does without it for now.")
        yield _("The edge %(name)s fell back") % name, detail, "fallback"


def savings(counts: Counter[str], prices: Prices) -> list[metrics.Saving]:
    """Count the bytes that viewers got without the origin, less what was prewarmed."""
    saved = counts["bytes:hit"] + counts["bytes:pinned_hit"] - counts["origin:prewarm"]
    return [metrics.Saving("money", max(0, saved) / 1e9 * prices.gigabyte), metrics.Saving("bytes", max(0, saved))]
