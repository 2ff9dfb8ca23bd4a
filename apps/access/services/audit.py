"""Write the audit log: every act of a curator or operator leaves a row."""

from typing import Any

from django.db.models import Model

from apps.access.core.callers import Caller
from apps.access.models import AuditEvent


def record(caller: Caller, verb: str, target: Model, **detail: Any) -> AuditEvent:
    """Note that a caller did something to a row, inside the caller's transaction."""
    return AuditEvent.objects.create(
        workspace_id=caller.workspace_id,
        user_id=caller.user_id,
        key_id=caller.key_id,
        verb=verb,
        target=target._meta.label_lower,
        target_id=str(target.pk),
        detail=detail,
    )
