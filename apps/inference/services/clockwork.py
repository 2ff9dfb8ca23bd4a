"""What the clock does for inference: send again, recover, expire idle streams."""

from __future__ import annotations

import os
import socket
from datetime import timedelta

from django.conf import settings
from django.db.models.functions import Now

from apps.inference.models import Job, Network, Stream
from apps.inference.services import jobs


def tick() -> None:
    """Do what must happen every few seconds."""
    for rows in (Job, Network):
        rows.recover()
        rows.resend()
    jobs.release()


def minute() -> None:
    """Do what must happen every minute."""
    idle = timedelta(seconds=settings.INFERENCE["STREAM_IDLE_S"])
    late = Stream.objects.filter(status=Stream.Status.OPEN, last_frame_at__lt=Now() - idle)
    late.update(status=Stream.Status.EXPIRED, closed_at=Now())


def take_over() -> int:
    """Queue at once what dead workers of this machine held, instead of waiting for their leases to end."""
    here, freed = f"{socket.gethostname()}:", 0
    for rows in (Job, Network):
        for row in rows.objects.filter(status=rows.Status.RUNNING, worker__startswith=here):
            if not _lives(row.worker.removeprefix(here)):
                freed += rows.objects.filter(pk=row.pk, status=rows.Status.RUNNING, worker=row.worker).update(
                    leased_until=Now() - timedelta(seconds=1)
                )
        rows.recover()
        rows.resend()
    return freed


def _lives(pid: str) -> bool:
    if not pid.isdigit() or int(pid) == os.getpid():
        return False
    try:
        os.kill(int(pid), 0)
    except ProcessLookupError:
        return False
    except PermissionError:
        return True
    return True
