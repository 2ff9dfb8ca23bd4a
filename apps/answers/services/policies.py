"""Policies: read on every question from memory, changed with a trace, undone with one call."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any
from uuid import UUID

from django.core.exceptions import ValidationError
from django.db import transaction

from apps.access import services as access
from apps.access.core.callers import Caller
from apps.answers.core.policy import Policy, PolicyError
from apps.answers.models import Namespace, PolicyChange
from apps.answers.models.namespaces import NAME


@dataclass(frozen=True, slots=True)
class Space:
    """What serving needs to know of a namespace."""

    id: UUID
    workspace_id: UUID
    name: str
    policy: Policy
    judge_version: str
    promotion_paused: str


_spaces: dict[tuple[UUID, str], tuple[bytes, Space]] = {}


def space(workspace_id: UUID, name: str) -> Space:
    """Give a namespace of a workspace from memory while the epoch lasts.

    Raises:
        Missing: the workspace has no namespace of this name; the message names it.
    """
    epoch = access.epoch()
    known = _spaces.get((workspace_id, name))
    if known and epoch is not None and known[0] == epoch:
        return known[1]
    found = _space(namespace(workspace_id, name))
    if len(_spaces) > 10_000:
        _spaces.clear()
    _spaces[workspace_id, name] = (epoch or b"", found)
    return found


def namespace(workspace_id: UUID, name: str) -> Namespace:
    """Read a namespace's row.

    Raises:
        Missing: there is none of this name.
    """
    row = Namespace.objects.filter(workspace_id=workspace_id, name=name).first() if "\0" not in name else None
    if row is None:
        raise access.Missing(f"This workspace has no namespace {name!r}.", field="namespace")
    return row


def _space(row: Namespace) -> Space:
    policy = Policy.from_mapping(row.policy)
    return Space(row.id, row.workspace_id, row.name, policy, row.judge_version, row.promotion_paused)


def whole(row: Namespace) -> dict[str, Any]:
    """Give every setting of a namespace's policy, defaults included."""
    return Policy.from_mapping(row.policy).to_mapping()


@transaction.atomic
def change(caller: Caller, name: str, patch: Mapping[str, Any], reason: str = "") -> tuple[Namespace, bool]:
    """Change a policy, or create the namespace with defaults and these changes; returns (row, created).

    Raises:
        Invalid: the name or a value is not valid; nothing is changed.
    """
    row, created = _locked_or_new(caller, name)
    return _put(caller, row, {**row.policy, **patch}, reason, created), created


def _put(caller: Caller, row: Namespace, values: Mapping[str, Any], reason: str, created: bool = False) -> Namespace:
    """Put a whole policy in force, with its trace."""
    try:
        policy = Policy.from_mapping(values)
    except PolicyError as problem:
        raise access.Invalid("The policy is not valid.", errors=problem.errors) from problem
    before, row.policy = row.policy, policy.to_mapping()
    row.save()
    if before != row.policy:
        PolicyChange.objects.create(namespace=row, before=before, after=row.policy, by=caller.name, reason=reason)
    access.record(caller, "created" if created else "changed the policy of", row, policy=row.policy)
    access.forget_on_commit()
    return row


def _locked_or_new(caller: Caller, name: str) -> tuple[Namespace, bool]:
    try:
        NAME(name)
    except ValidationError as problem:
        raise access.Invalid(problem.messages[0], field="namespace") from problem
    return Namespace.objects.select_for_update().get_or_create(workspace_id=caller.workspace_id, name=name)


@transaction.atomic
def undo(caller: Caller, last: PolicyChange) -> Namespace:
    """Put back the policy from before a change."""
    row, _ = _locked_or_new(caller, last.namespace.name)
    return _put(caller, row, last.before, f"undo of {last.id}")
