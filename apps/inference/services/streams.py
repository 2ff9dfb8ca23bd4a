"""Open streams, hand their pictures to the worker that holds their cache, close them."""

from __future__ import annotations

import time
import uuid
from typing import Any

from django.conf import settings
from django.db.models.functions import Now

from apps.access import services as access
from apps.access.core.callers import Caller
from apps.inference.core import pictures
from apps.inference.models import Stream
from apps.inference.services import networks, wire

MOST_OPEN = 200
REFUSALS = {409: access.Conflict, 422: access.Invalid}


def begin(caller: Caller, model: str, **settings: Any) -> Stream:
    """Open a stream.

    Raises:
        Invalid: the workspace has no such model.
        Conflict: too many streams are open.
    """
    network = networks.ready(caller.workspace_id, model)
    if Stream.objects.filter(workspace_id=caller.workspace_id, status=Stream.Status.OPEN).count() >= MOST_OPEN:
        raise access.Conflict(f"At most {MOST_OPEN} streams may be open; close some.")
    about = {"workspace_id": caller.workspace_id, "network": network, "by": caller.name}
    row = Stream.objects.create(**about, **settings)
    row.refresh_from_db()
    return row


def post(row: Stream, picture: bytes) -> dict[str, Any]:
    """Give the next picture of a stream, and wait for its result.

    Raises:
        Conflict: the stream is closed or has expired.
        Invalid: this is no picture.
        Unavailable: no worker is there, or it did not answer in time.
    """
    _demand_open(row)
    try:
        pictures.size_of(picture)
    except pictures.PictureError as problem:
        raise access.Invalid(str(problem), field="file") from problem
    worker, key = bound(row), f"touchstone:inference:reply:{uuid.uuid4().hex}"
    deadline = time.time() + settings.INFERENCE["STREAM_PATIENCE_S"]
    wire.ask(worker, wire.Request("frame", str(row.pk), key, deadline, picture))
    told = wire.reply(key, deadline, worker)
    if "detail" in told:
        refusal = REFUSALS.get(told["status"], access.Unavailable)
        raise refusal(told["detail"], field="file" if told["status"] == 422 else None)
    return told


def bound(row: Stream) -> str:
    """Give the worker of a stream; a stream whose worker is gone is bound to another, where it begins dense.

    Raises:
        Unavailable: no worker answers streams.
    """
    workers = wire.alive()
    if row.worker in workers:
        return row.worker
    if not workers:
        raise access.Unavailable("No worker answers streams at the moment.", retry_after_s=5)
    chosen = workers[uuid.UUID(str(row.pk)).int % len(workers)]
    Stream.objects.filter(pk=row.pk, worker=row.worker).update(worker=chosen)
    row.refresh_from_db()
    return row.worker


def close(caller: Caller, row: Stream) -> None:
    """Close a stream; its worker forgets its cache."""
    taken = Stream.objects.filter(pk=row.pk, status=Stream.Status.OPEN)
    if taken.update(status=Stream.Status.CLOSED, closed_at=Now()) and row.worker in wire.alive():
        wire.ask(row.worker, wire.Request("close", str(row.pk)))


def _demand_open(row: Stream) -> None:
    if row.status != Stream.Status.OPEN:
        raise access.Conflict(f"This stream is {row.get_status_display().lower()}; open another one.")
