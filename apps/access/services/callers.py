"""Recognise callers: by key on the request path, by membership in the console."""

import hashlib
import time
from dataclasses import dataclass

from django.db import transaction
from django.db.models.functions import Now

from apps.access.core.callers import ROLE_SCOPES, SCOPES, Caller
from apps.access.models import ApiKey, User, Workspace
from apps.access.services import rates

REMEMBER = 10_000
TOUCH_EVERY_S = 60.0


@dataclass(slots=True)
class Remembered:
    """A recognised caller, while the epoch lasts."""

    epoch: bytes
    caller: Caller
    expires_at: float
    touched_at: float


_remembered: dict[bytes, Remembered] = {}


def recognise(secret: str) -> Caller | None:
    """Find the caller behind a key; None when it is unknown, revoked or expired."""
    digest = hashlib.sha256(secret.encode("utf-8", "surrogatepass")).digest()
    epoch, now = rates.epoch(), time.time()
    known = _remembered.get(digest)
    if known is None or epoch is None or known.epoch != epoch or now >= known.expires_at:
        known = _read(digest, epoch or b"")
    if known is None:
        return None
    if now - known.touched_at > TOUCH_EVERY_S:
        known.touched_at = now
        ApiKey.objects.filter(digest=digest).update(last_used_at=Now())
    return known.caller


def _read(digest: bytes, epoch: bytes) -> Remembered | None:
    _remembered.pop(digest, None)
    key = ApiKey.objects.usable().filter(digest=digest).first()
    if key is None:
        return None
    caller = Caller(key.workspace_id, frozenset(key.scopes), key_id=key.id, rate_per_minute=key.rate_per_minute)
    until = key.expires_at.timestamp() if key.expires_at else float("inf")
    if len(_remembered) >= REMEMBER:
        _remembered.clear()
    _remembered[digest] = Remembered(epoch, caller, until, 0.0)
    return _remembered[digest]


def caller_for_user(user: User, workspace: Workspace) -> Caller | None:
    """Give a person's caller in a workspace; superusers own every workspace, strangers get None."""
    if user.is_superuser:
        return Caller(workspace.id, frozenset(SCOPES), user_id=user.pk)
    role = user.memberships.filter(workspace=workspace).values_list("role", flat=True).first()
    return Caller(workspace.id, ROLE_SCOPES[role], user_id=user.pk) if role else None


def workspaces_of(user: User) -> list[Workspace]:
    """List the workspaces a person may open, by name."""
    rows = Workspace.objects.all() if user.is_superuser else Workspace.objects.filter(memberships__user=user)
    return list(rows.order_by("name"))


def forget_on_commit() -> None:
    """Renew the epoch once the transaction that changed a key or a policy is durable."""
    transaction.on_commit(rates.renew_epoch)
