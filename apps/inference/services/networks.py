"""Register networks: uploads are checked and analysed in a child process, shipped ones are prepared by the worker."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field
from typing import Any
from uuid import UUID

from django.conf import settings
from django.db import IntegrityError, transaction
from django.db.models.functions import Now

from apps.access import services as access
from apps.access.core.callers import Caller
from apps.inference.core import inspection
from apps.inference.core.models import shipped
from apps.inference.models import Job, Network, Stream
from apps.inference.services import storage

BUSY = (Job.Status.QUEUED, Job.Status.RUNNING, Job.Status.WAITING)


@dataclass(frozen=True, slots=True)
class Facts:
    """What a person says of a network; a size of 0 is taken from the file."""

    name: str
    purpose: str = Network.Task.CLASSIFICATION
    input_width: int = 0
    input_height: int = 0
    mean: Sequence[float] = (0.0, 0.0, 0.0)
    std: Sequence[float] = (1.0, 1.0, 1.0)
    labels: Sequence[str] = field(default_factory=list)
    layout: str = Network.Layout.NCHW


def register(caller: Caller, facts: Facts, parts: Iterable[bytes]) -> Network:
    """Keep, check and analyse an ONNX file, and register it.

    Raises:
        Invalid: it is no network this cache accepts; the message says why.
        Conflict: the workspace has a network of this name.
        TooLarge: the file is larger than networks may be.
        Unavailable: the check took too long; kernels may still be compiling.
    """
    if Network.objects.filter(workspace_id=caller.workspace_id, name=facts.name).exists():
        raise access.Conflict(f"This workspace has a network {facts.name!r}.", field="name")
    kept = storage.keep(parts, caller.workspace_id, "models", ".onnx", settings.INFERENCE["MODEL_BYTES"])
    try:
        found = _inspected(kept, facts.input_height, facts.input_width)
        return _registered(caller, facts, kept, found)
    except access.ProblemError:
        _drop_unused(kept.file)
        raise


def _inspected(kept: storage.Kept, height: int, width: int) -> inspection.Found:
    try:
        return inspection.inspect(storage.root() / kept.file, height, width)
    except inspection.RefusedError as problem:
        raise access.Invalid(_sentence(str(problem)), field="file") from problem
    except inspection.SlowError as problem:
        raise access.Unavailable(_sentence(str(problem)), retry_after_s=60) from problem


def _sentence(text: str) -> str:
    return text[:1].upper() + text[1:] + ("" if text.endswith(".") else ".")


def _registered(caller: Caller, facts: Facts, kept: storage.Kept, found: inspection.Found) -> Network:
    values = {
        "name": facts.name, "purpose": facts.purpose, "layout": facts.layout, "labels": list(facts.labels),
        "mean": list(facts.mean), "std": list(facts.std), "input_width": found.width, "input_height": found.height,
        "file": kept.file, "sha256": kept.sha256, "size_bytes": kept.size, "analysis": found.analysis,
        "status": Network.Status.DONE, "by": caller.name,
    }  # fmt: skip
    try:
        with transaction.atomic():
            row = Network.objects.create(workspace_id=caller.workspace_id, finished_at=Now(), **values)
            access.record(caller, "registered", row, name=facts.name, sha256=kept.sha256)
    except IntegrityError as problem:
        raise access.Conflict(f"This workspace has a network {facts.name!r}.", field="name") from problem
    row.refresh_from_db()
    return row


def ship(caller: Caller) -> list[Network]:
    """Register the networks of the product that this workspace lacks; the worker prepares them."""
    there = set(Network.objects.filter(workspace_id=caller.workspace_id).values_list("name", flat=True))
    made = []
    for name, known in shipped.SHIPPED.items():
        if name not in there:
            about: dict[str, Any] = {"purpose": known.task, "mean": list(known.mean), "std": list(known.std)}
            about |= {"input_width": known.width, "input_height": known.height, "by": caller.name}
            made.append(Network.submit(workspace_id=caller.workspace_id, name=name, shipped=name, **about))
    return made


def remove(caller: Caller, row: Network) -> None:
    """Delete a network with its finished jobs and closed streams.

    Raises:
        Conflict: jobs wait or run, or streams are open.
    """
    with transaction.atomic():
        Network.objects.select_for_update().get(pk=row.pk)
        if row.jobs.filter(status__in=BUSY).exists() or row.streams.filter(status=Stream.Status.OPEN).exists():
            raise access.Conflict("Jobs or streams use this network; cancel or close them first.")
        access.record(caller, "deleted", row, name=row.name, sha256=row.sha256)
        row.delete()
    _drop_unused(row.file)


def _drop_unused(file: str) -> None:
    if file and not Network.objects.filter(file=file).exists():
        storage.drop(file)


def ready(workspace_id: UUID, named: str) -> Network:
    """Find a network of a workspace by its id or name, ready to run.

    Raises:
        Invalid: there is none, or it could not be prepared.
        Unavailable: it is being prepared.
    """
    row = find(workspace_id, named)
    if not row.ready:
        raise access.Unavailable("This model is being prepared; try again shortly.", retry_after_s=10)
    return row


def find(workspace_id: UUID, named: str, *, held: bool = False) -> Network:
    """Find a network of a workspace by its id or name; one that is being prepared will be ready some time.

    `held`: it stays as it is found until the transaction around ends.

    Raises:
        Invalid: there is none, or it could not be prepared.
    """
    rows = Network.objects.filter(workspace_id=workspace_id)
    if held:
        rows = rows.select_for_update(no_key=True)
    row = rows.filter(pk=named).first() if _is_id(named) else None
    row = row or (rows.filter(name=named).first() if "\0" not in named else None)
    if row is None:
        raise access.Invalid("This workspace has no such model.", field="model")
    if row.status == Network.Status.FAILED:
        raise access.Invalid(f"This model could not be prepared: {row.error}", field="model")
    return row


def _is_id(text: str) -> bool:
    try:
        UUID(text)
    except ValueError:
        return False
    return True
