"""What the clock does for segments: send again, recover, plan for every edge that is heard of, forget old views."""

from __future__ import annotations

import logging

from django.db.models import Max
from django.utils import timezone

from apps.segments.models import Edge, Training, Video
from apps.segments.services import edges, planning, viewing

log = logging.getLogger(__name__)


def tick() -> None:
    """Do what must happen every few seconds."""
    for rows in (Video, Training):
        rows.recover()
        rows.resend()
    plan_due()


def plan_due() -> int:
    """Make a plan for each edge that is heard of and has none that is fresh; returns how many."""
    made = 0
    fresh = timezone.now() - planning.EVERY
    for edge in Edge.objects.annotate(planned=Max("plans__created_at")):
        if edges.lost(edge) or (edge.planned and edge.planned > fresh):
            continue
        try:
            made += planning.make(edge) is not None
        except Exception:  # the other edges must get theirs
            log.exception("no plan could be made for the edge %s", edge.pk)
    return made


def minute() -> None:
    """Do what must happen every minute."""
    viewing.prune()
