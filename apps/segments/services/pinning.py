"""Pins: segments that stay at every edge for good, within the share of it that pins may take."""

from __future__ import annotations

from uuid import UUID

from django.db import transaction

from apps.access import services as access
from apps.access.core.callers import Caller
from apps.segments.models import Pin
from apps.segments.services import videos


@transaction.atomic
def pin(caller: Caller, video: UUID, index: int | None, reason: str) -> Pin:
    """Pin a segment, or a whole video.

    Raises:
        Missing: the workspace has no such video.
        Conflict: it is pinned already.
    """
    row = videos.find(caller, video)
    values = {"workspace_id": caller.workspace_id, "reason": reason, "by": caller.name}
    found, created = Pin.objects.get_or_create(video=row, index=index, defaults=values)
    if not created:
        raise access.Conflict("This is pinned already.", field="index")
    access.record(caller, "pinned", found, video=str(row.pk), index=index)
    return found


@transaction.atomic
def unpin(caller: Caller, row: Pin) -> None:
    """Take a pin out; the segment stays as long as it is worth it."""
    access.record(caller, "unpinned", row, video=str(row.video_id), index=row.index)
    row.delete()
