"""Submit jobs, cancel them, find results that are already there."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from django.conf import settings
from django.db import transaction
from django.db.models.functions import Now

from apps.access import services as access
from apps.access.core.callers import Caller
from apps.inference.models import Job, Network
from apps.inference.services import networks, progress, storage
from apps.metrics import services as metrics

CACHE = "inference"
OPEN = (Job.Status.WAITING, Job.Status.QUEUED, Job.Status.RUNNING)


@dataclass(frozen=True, slots=True)
class Video:
    """What a job runs over: a file inside the media folder, and its digest where that is known."""

    file: str
    title: str
    sha256: str = ""
    uploaded: bool = False


def keep_video(caller: Caller, name: str, parts: Iterable[bytes]) -> Video:
    """Keep an uploaded video.

    Raises:
        TooLarge: it is larger than videos may be.
        Invalid: it is empty.
    """
    kept = storage.keep(parts, caller.workspace_id, "videos", "", settings.INFERENCE["VIDEO_BYTES"])
    if not kept.size:
        raise access.Invalid("The file is empty.", field="file")
    return Video(kept.file, Path(name).name[:200], kept.sha256, uploaded=True)


def named_video(path: str) -> Video:
    """Give a video that lies in the media folder.

    Raises:
        Invalid: the path leads elsewhere, or to no file.
    """
    file = storage.named(path)
    return Video(file, Path(file).name[:200])


def submit(caller: Caller, model: str, video: Video, **settings: Any) -> Job:
    """Queue a job; one whose results are known is done at once, one whose model is being prepared waits for it.

    Raises:
        Invalid: the workspace has no such model, or it could not be prepared.
    """
    with transaction.atomic():
        network = networks.find(caller.workspace_id, model, held=True)
        about = {"workspace_id": caller.workspace_id, "network": network, "file": video.file, "title": video.title}
        row = Job(**about, sha256=video.sha256, uploaded=video.uploaded, by=caller.name, **settings)
        earlier = same(row) if video.sha256 else None
        row.status = Job.Status.QUEUED if network.ready else Job.Status.WAITING
        row.save(force_insert=True)
        if earlier is not None:
            give(row, earlier)
        elif network.ready:
            row.send()
    row.refresh_from_db()
    return row


def release() -> int:
    """Send the jobs whose model is ready by now, and fail those whose model could not be prepared; returns how many."""
    waiting = Job.objects.filter(status=Job.Status.WAITING)
    hopeless = waiting.filter(network__status=Network.Status.FAILED)
    ended = hopeless.update(status=Job.Status.FAILED, error="The model could not be prepared.", finished_at=Now())
    sent = 0
    for row in waiting.filter(network__status=Network.Status.DONE).order_by("created_at"):
        with transaction.atomic():
            if Job.objects.filter(pk=row.pk, status=Job.Status.WAITING).update(status=Job.Status.QUEUED, sent_at=Now()):
                row.send()
                sent += 1
    return sent + ended


def same(row: Job) -> Job | None:
    """Find a finished job over the same bytes with the same model and settings."""
    rows = Job.objects.filter(network_id=row.network_id, sha256=row.sha256, source=None, status=Job.Status.DONE)
    return rows.filter(**row.settings()).exclude(pk=row.pk).order_by("-created_at").first()


def give(row: Job, earlier: Job) -> None:
    """Finish a job with the results of an earlier one: `stored`."""
    about = {"stats": earlier.stats, "video": earlier.video, "annotated": earlier.annotated}
    Job.objects.filter(pk=row.pk).update(
        status=Job.Status.DONE, source=earlier, sha256=earlier.sha256, done=earlier.done, total=earlier.total,
        finished_at=Now(), leased_until=None, **about,
    )  # fmt: skip
    name = Network.objects.values_list("name", flat=True).get(pk=row.network_id)
    metrics.count(row.workspace_id, CACHE, name, "stored")
    metrics.count(row.workspace_id, CACHE, name, "stored_frames", earlier.done)


def cancel(caller: Caller, row: Job) -> Job:
    """Cancel a job that waits or runs; a running one stops between frames.

    Raises:
        Conflict: it has ended already.
    """
    with transaction.atomic():
        taken = Job.objects.filter(pk=row.pk, status__in=OPEN).update(
            status=Job.Status.CANCELLED, finished_at=Now(), leased_until=None
        )
        if not taken:
            raise access.Conflict("This job has ended already.")
        access.record(caller, "cancelled", row)
    row.refresh_from_db()
    progress.announce(row)
    return row
