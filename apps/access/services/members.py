"""Who belongs to a workspace, in which role, and what callers are called."""

from __future__ import annotations

from collections.abc import Iterable
from uuid import UUID

from django.db import transaction

from apps.access.core.callers import Caller
from apps.access.models import ApiKey, Membership, User
from apps.access.services.audit import record
from apps.access.services.errors import Conflict, Invalid


@transaction.atomic
def admit(caller: Caller, username: str, role: str) -> Membership:
    """Give a person a role in the caller's workspace, or another one than before; they may open the console then.

    Raises:
        Invalid: there is no such person, or no such role.
        Conflict: the workspace would have no owner any more.
    """
    user = User.objects.filter(username=username).first()
    if user is None:
        raise Invalid("There is no person of this name.", field="username")
    if role not in Membership.Role.values:
        raise Invalid(f"A role is one of {', '.join(Membership.Role.values)}.", field="role")
    _keep_an_owner(caller, user, role)
    row, _ = Membership.objects.update_or_create(user=user, workspace_id=caller.workspace_id, defaults={"role": role})
    User.objects.filter(pk=user.pk).update(is_staff=True)
    record(caller, "admitted", row, person=username, role=role)
    return row


@transaction.atomic
def dismiss(caller: Caller, row: Membership) -> None:
    """Take a person out of the caller's workspace.

    Raises:
        Conflict: the workspace would have no owner any more.
    """
    _keep_an_owner(caller, row.user, "")
    record(caller, "dismissed", row, person=row.user.username)
    row.delete()


def names(callers: Iterable[str]) -> dict[str, str]:
    """Name people and keys as others know them: `user:3` -> a user's name, `key:<id>` -> a key's name."""
    wanted = set(callers)
    users = {name.removeprefix("user:") for name in wanted if name.startswith("user:")}
    keys = [UUID(name.removeprefix("key:")) for name in wanted if name.startswith("key:")]
    rows = User.objects.filter(pk__in=[pk for pk in users if pk.isdigit()]).values_list("pk", "username")
    told = {f"user:{pk}": str(name) for pk, name in rows} if users else {}
    if keys:
        named = ApiKey.objects.filter(pk__in=keys).values_list("pk", "name")
        told |= {f"key:{pk}": str(name) for pk, name in named}
    return told


def _keep_an_owner(caller: Caller, user: User, role: str) -> None:
    owners = Membership.objects.select_for_update().filter(workspace_id=caller.workspace_id, role=Membership.Role.OWNER)
    if role != Membership.Role.OWNER and {row.user_id for row in owners} == {user.pk}:
        raise Conflict("A workspace needs an owner; make somebody else one first.")
