"""Versions of models: numbers, and which one of each role serves."""

from __future__ import annotations

from uuid import UUID

from django.db import transaction
from django.db.models import Max

from apps.access import services as access
from apps.access.core.callers import Caller
from apps.segments.models import Predictor
from apps.segments.services import predicting


def next_number(workspace_id: UUID) -> int:
    """Number the next version."""
    last = Predictor.objects.filter(workspace_id=workspace_id).aggregate(last=Max("number"))["last"]
    return int(last or 0) + 1


def serve(caller: Caller, row: Predictor) -> Predictor:
    """Let a version serve: one that passed the gate, or a retention curve, which stands by for all.

    Raises:
        Conflict: it does not beat what serves without any model, on cases it has not seen.
    """
    if not row.passes and row.kind != Predictor.Kind.RETENTION:
        told = f" ({row.loss:.4f} against {row.baseline:.4f})" if row.loss and row.baseline else ""
        rival = "the threshold on unseen clips" if row.role == Predictor.Role.SCENE else (
            "the retention curve on unseen viewers"
        )  # fmt: skip
        raise access.Conflict(f"This model does not beat {rival}{told}.")
    put_in_service(row.workspace_id, row)
    access.record(caller, "put in service", row, kind=row.kind, number=row.number)
    row.refresh_from_db()
    return row


@transaction.atomic
def put_in_service(workspace_id: UUID, row: Predictor) -> None:
    """Let one version serve and no other of its role."""
    Predictor.objects.filter(workspace_id=workspace_id, role=row.role, serving=True).update(serving=False)
    Predictor.objects.filter(pk=row.pk).update(serving=True)
    predicting.forget()
