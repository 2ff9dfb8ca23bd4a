"""Idempotency-Key: the same request asked twice is done once and answered twice."""

import hashlib
from collections.abc import Callable
from typing import Any

from django.db import transaction

from apps.access.core.callers import Caller
from apps.access.models import RememberedReply
from apps.access.services.errors import Conflict, Invalid

Reply = tuple[int, Any]


@transaction.atomic
def remembered(caller: Caller, key: str, path: str, body: bytes, perform: Callable[[], Reply]) -> Reply:
    """Perform a request once per key and give its first reply to every repeat.

    The row is inserted first and locked, so a second client with the same key waits for the first.

    Raises:
        Invalid: the key is longer than 255 characters.
        Conflict: the same key came with another body.
    """
    if not key or len(key) > 255:
        raise Invalid("Idempotency-Key must have 1 to 255 characters.", field="Idempotency-Key")
    digest = hashlib.sha256(body).digest()
    row, fresh = RememberedReply.objects.select_for_update().get_or_create(
        workspace_id=caller.workspace_id, path=path, key=key, defaults={"request_digest": digest}
    )
    if bytes(row.request_digest) != digest:
        raise Conflict("This Idempotency-Key was used with another body.")
    if not fresh and row.status is not None:
        return row.status, row.body
    row.status, row.body = perform()
    row.save(update_fields=["status", "body"])
    return row.status, row.body
