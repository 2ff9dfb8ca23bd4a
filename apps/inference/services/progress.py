"""Tell whoever watches a job how it stands."""

from __future__ import annotations

import logging
from uuid import UUID

from asgiref.sync import async_to_sync
from channels.layers import get_channel_layer

from apps.inference.models import Job

log = logging.getLogger(__name__)


def group(pk: UUID | str) -> str:
    """Name the group of a job's watchers."""
    return f"inference.job.{UUID(str(pk)).hex}"


def announce(row: Job) -> None:
    """Send how a job stands; a broker that is down costs watchers some liveliness, the job nothing."""
    try:
        async_to_sync(get_channel_layer().group_send)(group(row.pk), {"type": "job.progress", "told": row.told()})
    except Exception:
        log.warning("progress of %s could not be sent", row.pk)
