"""Issue and revoke API keys; only a digest is kept."""

import hashlib
import secrets
from collections.abc import Iterable
from datetime import datetime

from django.db import transaction
from django.db.models.functions import Now

from apps.access.core.callers import SCOPES, Caller
from apps.access.models import ApiKey, User, Workspace
from apps.access.services.audit import record
from apps.access.services.callers import forget_on_commit
from apps.access.services.errors import Invalid

PREFIX = "ts_"


@transaction.atomic
def issue(
    workspace: Workspace,
    name: str,
    scopes: Iterable[str],
    *,
    expires_at: datetime | None = None,
    rate_per_minute: int = 0,
    by: User | None = None,
) -> tuple[ApiKey, str]:
    """Make a key and return it with its secret, which is shown this once.

    Raises:
        Invalid: a scope that does not exist, or none at all.
    """
    wanted = sorted(set(scopes))
    if not wanted or not set(wanted) <= set(SCOPES):
        raise Invalid(f"Scopes are some of {', '.join(SCOPES)}.", field="scopes")
    secret = PREFIX + secrets.token_urlsafe(32)
    key = ApiKey.objects.create(
        workspace=workspace,
        name=name,
        prefix=secret[:10],
        digest=hashlib.sha256(secret.encode()).digest(),
        scopes=wanted,
        expires_at=expires_at,
        rate_per_minute=rate_per_minute,
        created_by=by,
    )
    if by is not None:
        record(Caller(workspace.pk, user_id=by.pk), "issued", key, name=name, scopes=wanted)
    forget_on_commit()
    return key, secret


@transaction.atomic
def revoke(key: ApiKey, by: User | None = None) -> None:
    """End a key at once, in every process."""
    ended = ApiKey.objects.filter(pk=key.pk, revoked_at=None).update(revoked_at=Now())
    if ended and by is not None:
        record(Caller(key.workspace_id, user_id=by.pk), "revoked", key, name=key.name)
    forget_on_commit()
