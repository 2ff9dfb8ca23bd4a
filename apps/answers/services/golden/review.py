"""Four eyes: a text is submitted by one person and approved by another."""

from __future__ import annotations

from uuid import UUID

from django.db import transaction

from apps.access import services as access
from apps.access.core.callers import Caller
from apps.access.models import ApiKey
from apps.answers.models import GoldenAnswer
from apps.answers.services.golden.drafts import Status, locked


@transaction.atomic
def submit(caller: Caller, pk: UUID) -> GoldenAnswer:
    """Hand a draft to the reviewers.

    Raises:
        Conflict: it is not a draft.
    """
    row = locked(caller, pk)
    demand(row, Status.DRAFT, "submitted")
    return _moved(caller, row, Status.IN_REVIEW, "submitted")


@transaction.atomic
def approve(caller: Caller, pk: UUID) -> GoldenAnswer:
    """Approve a text in review.

    Raises:
        Conflict: it is not in review, or the caller wrote it and the namespace asks for four eyes.
    """
    row = locked(caller, pk)
    demand(row, Status.IN_REVIEW, "approved")
    if row.namespace.four_eyes and _person(row.author) == _person(caller.name):
        raise access.Conflict("You wrote this text; somebody else must approve it.")
    row.approver = caller.name
    return _moved(caller, row, Status.APPROVED, "approved")


@transaction.atomic
def send_back(caller: Caller, pk: UUID, reason: str) -> GoldenAnswer:
    """Return a submitted or approved text to its author with a reason.

    Raises:
        Conflict: it is neither in review nor approved.
    """
    row = locked(caller, pk)
    if row.status not in {Status.IN_REVIEW, Status.APPROVED}:
        demand(row, Status.IN_REVIEW, "sent back")
    row.approver = ""
    return _moved(caller, row, Status.DRAFT, "sent back", reason=reason[:1000])


def demand(row: GoldenAnswer, status: str, verb: str) -> None:
    """Refuse an act that another state does not allow.

    Raises:
        Conflict: the row is in another state; the message names both.
    """
    if row.status != status:
        now, needed = Status(row.status).label.lower(), Status(status).label.lower()
        raise access.Conflict(f"This golden answer is {now}; only what is {needed} can be {verb}.")


def _moved(caller: Caller, row: GoldenAnswer, status: str, verb: str, **detail: str) -> GoldenAnswer:
    row.status = status
    row.save(update_fields=["status", "approver", "updated_at"])
    access.record(caller, verb, row, **detail)
    return row


def _person(name: str) -> str:
    """Name the person behind a caller, so that nobody approves in the console what their own key wrote."""
    if not name.startswith("key:"):
        return name
    maker = ApiKey.objects.filter(pk=name.removeprefix("key:")).values_list("created_by_id", flat=True).first()
    return f"user:{maker}" if maker else name
