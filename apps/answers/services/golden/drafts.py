"""Write the working copy of a golden answer; what is in force serves on until the next publication."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any
from uuid import UUID

from django.db import transaction

from apps.access import services as access
from apps.access.core.callers import Caller
from apps.access.models import User
from apps.answers.models import GoldenAnswer
from apps.answers.services import policies
from apps.answers.services.golden import texts

Status = GoldenAnswer.Status
EMPTY: dict[str, Any] = {
    "question": "",
    "answer": "",
    "aliases": [],
    "tags": [],
    "attachments": [],
    "valid_from": None,
    "valid_until": None,
}


def of(caller: Caller, pk: UUID) -> GoldenAnswer:
    """Read a golden answer of the caller's workspace.

    Raises:
        Missing: there is no such golden answer here.
    """
    rows = GoldenAnswer.objects.select_related("namespace", "in_force", "owner")
    row = rows.filter(pk=pk, namespace__workspace_id=caller.workspace_id).first()
    if row is None:
        raise access.Missing("This workspace has no such golden answer.")
    return row


def locked(caller: Caller, pk: UUID) -> GoldenAnswer:
    """Read a golden answer and hold it until the transaction ends, so that its versions and promotions stand still.

    The lock lets others refer to the row: a near miss noted on the request path never waits for a curator.
    """
    rows = GoldenAnswer.objects.select_related("namespace", "in_force").select_for_update(of=("self",), no_key=True)
    row = rows.filter(pk=pk, namespace__workspace_id=caller.workspace_id).first()
    if row is None:
        raise access.Missing("This workspace has no such golden answer.")
    return row


@transaction.atomic
def draft(caller: Caller, namespace: str, values: Mapping[str, Any]) -> GoldenAnswer:
    """Begin a golden answer as a draft.

    Args:
        caller: its author.
        namespace: the name of its namespace.
        values: `question` and `answer`; and any of `aliases`, `tags`, `attachments`, `valid_from`, `valid_until`,
            `owner` (a user's name), `review_by`.

    Raises:
        Missing: the workspace has no such namespace, or no member of the owner's name.
        Invalid: some values are not valid.
    """
    space = policies.namespace(caller.workspace_id, namespace)
    desk = _desk(caller, values)
    text = _checked({**EMPTY, **_text(values)})
    row = GoldenAnswer.objects.create(namespace=space, author=caller.name, **text, **desk)
    access.record(caller, "drafted", row)
    return row


@transaction.atomic
def edit(caller: Caller, pk: UUID, values: Mapping[str, Any]) -> GoldenAnswer:
    """Change the working copy; a changed text becomes a draft again, whoever changes its wording is its author.

    Raises:
        Missing: there is no such golden answer here, or no member of the owner's name.
        Invalid: some values are not valid, or it was to move to another namespace.
    """
    row = locked(caller, pk)
    if values.get("namespace", row.namespace.name) != row.namespace.name:
        raise access.Invalid("A golden answer cannot move to another namespace.", field="namespace")
    desk = _desk(caller, values)
    before = texts.of(row)
    after = _checked({**before, **_text(values)})
    changed = [name for name in texts.TEXT if after[name] != before[name]]
    for name, value in {**after, **desk}.items():
        setattr(row, name, value)
    if changed:
        reopen(row, caller, changed)
    row.save()
    if changed or desk:
        access.record(caller, "edited", row, fields=changed + sorted(desk))
    return row


def reopen(row: GoldenAnswer, caller: Caller, changed: list[str]) -> None:
    """Turn a changed working copy into a draft without an approver."""
    row.status, row.approver = Status.DRAFT, ""
    if set(changed) & set(texts.WORDING) or not row.author:
        row.author = caller.name


@transaction.atomic
def remove(caller: Caller, pk: UUID) -> None:
    """Delete a golden answer that was never published.

    Raises:
        Conflict: it was published once, so its versions are kept.
    """
    row = locked(caller, pk)
    if row.versions.exists():
        raise access.Conflict("This golden answer was published, so its versions are kept; retire it instead.")
    access.record(caller, "deleted", row, question=row.question[:200])
    row.delete()


def _text(values: Mapping[str, Any]) -> dict[str, Any]:
    return {name: value for name, value in values.items() if name in texts.TEXT}


def _checked(text: dict[str, Any]) -> dict[str, Any]:
    if found := texts.problems(text):
        raise access.Invalid("Some fields are not valid.", errors=found)
    return text


def _desk(caller: Caller, values: Mapping[str, Any]) -> dict[str, Any]:
    """Take what belongs to the desk and not to the text: who owns it and when it is to be looked at again."""
    desk = {"review_by": values["review_by"]} if "review_by" in values else {}
    if "owner" in values:
        desk["owner"] = _member(caller, values["owner"])
    return desk


def _member(caller: Caller, username: str | None) -> User | None:
    if not username:
        return None
    user = User.objects.filter(username=username, memberships__workspace_id=caller.workspace_id).first()
    if user is None:
        raise access.Missing("This workspace has no member of this name.", field="owner")
    return user
