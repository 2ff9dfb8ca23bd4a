"""An operator's settings for all plans of a workspace."""

from __future__ import annotations

from typing import Any
from uuid import UUID

from django.db import transaction

from apps.access import services as access
from apps.access.core.callers import Caller
from apps.segments.core.control import SOURCE_MARKS, Marks
from apps.segments.core.value import Multipliers
from apps.segments.models import Tuning


def of(workspace_id: UUID) -> Tuning:
    """Give a workspace's settings, the defaults where none were made."""
    return Tuning.objects.filter(workspace_id=workspace_id).first() or Tuning(workspace_id=workspace_id)


def multipliers(row: Tuning) -> Multipliers:
    """Give the factors on top of a segment's value."""
    return Multipliers(row.density, row.first_minute, row.exercise, dict(row.tags))


def marks(row: Tuning) -> Marks:
    """Give the retransmission shares between which the origin limit stays."""
    return SOURCE_MARKS if row.source_marks else Marks()


@transaction.atomic
def change(caller: Caller, row: Tuning, changed: list[str]) -> None:
    """Save settings that a form has checked; `changed` names them."""
    row.workspace_id = caller.workspace_id
    row.save()
    said: dict[str, Any] = {name: getattr(row, name) for name in changed}
    access.record(caller, "changed", row, **said)
