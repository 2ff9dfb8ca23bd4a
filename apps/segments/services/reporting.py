"""Tell the dashboard how the segment cache stands: byte hits, origin bytes, viewers, edges, collapses."""

from __future__ import annotations

from collections import Counter
from datetime import timedelta
from typing import Any
from uuid import UUID

from django.db.models.functions import Now
from django.urls import reverse

from apps.access.core.prices import Prices
from apps.metrics import services as metrics
from apps.segments.models import Edge, Event, Video
from apps.segments.services import edges

CACHE = "segments"
LIVE = timedelta(minutes=1)
WORDS = {
    "prediction_latency": "predictions are slow",
    "features_fresh": "features are old",
    "access_pattern": "viewers ask for other videos than usual",
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
        if row.collapsed:
            failed = ", ".join(WORDS.get(check, check) for check in row.collapsed["failed"]) or "no check says why"
            detail = f"Byte hits fell from {row.collapsed['usual']:.0%} to {row.collapsed['now']:.0%}: {failed}."
            found.append({"title": f"Hits collapse at {row.name}", "detail": detail, "link": link})
        if edges.lost(row):
            detail = "It goes on as a plain LRU cache; nothing is prewarmed."
            found.append({"title": f"No word from the edge {row.name}", "detail": detail, "link": link})
        elif row.mode == "fallback":
            detail = "The plan lost to LRU there, so the edge does without it for now."
            found.append({"title": f"The edge {row.name} fell back", "detail": detail, "link": link})
    failed_videos = Video.objects.filter(workspace_id=workspace_id, status=Video.Status.FAILED).order_by("-pk")
    for video in failed_videos[:2]:
        link = reverse("admin:segments_video_change", args=[video.pk])
        found.append({"title": f"{video.title} could not be ingested", "detail": video.error, "link": link})
    return found


def savings(counts: Counter[str], prices: Prices) -> list[metrics.Saving]:
    """Count the bytes that viewers got without the origin, less what was prewarmed."""
    saved = counts["bytes:hit"] + counts["bytes:pinned_hit"] - counts["origin:prewarm"]
    return [metrics.Saving("money", max(0, saved) / 1e9 * prices.gigabyte), metrics.Saving("bytes", max(0, saved))]
