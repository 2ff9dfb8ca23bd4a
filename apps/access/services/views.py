"""Saved views: lists of the console with their filters, kept by each person for themselves."""

from __future__ import annotations

from typing import Any
from uuid import UUID

from django.db.models import QuerySet

from apps.access.models import SavedView, User, Workspace
from apps.access.services.errors import Invalid

MOST_VIEWS = 50
INSIDE = "/admin/"


def views(user: User, workspace: Workspace, path: str) -> QuerySet[SavedView]:
    """Give a person's views of one list, by name."""
    return SavedView.objects.filter(user=user, workspace=workspace, path=path).order_by("name")


def save_view(user: User, workspace: Workspace, path: str, query: str, name: str) -> SavedView:
    """Keep a list's filters under a name; the same name again replaces them.

    Raises:
        Invalid: the name or the list is not valid, or the person has 50 views of it.
    """
    name = name.strip()
    if not 1 <= len(name) <= 60 or "\0" in name:
        raise Invalid("A view needs a name of up to 60 letters.", field="name")
    if not path.startswith(INSIDE) or len(path) > 200 or len(query) > 1_000 or "\0" in path + query:
        raise Invalid("This is no list of the console.", field="path")
    if views(user, workspace, path).exclude(name=name).count() >= MOST_VIEWS:
        raise Invalid(f"Up to {MOST_VIEWS} views of one list are kept.", field="name")
    found: dict[str, Any] = {"user": user, "workspace": workspace, "path": path, "name": name}
    return SavedView.objects.update_or_create(**found, defaults={"query": query})[0]


def remove_view(user: User, key: UUID) -> None:
    """Forget a view; one of somebody else stays."""
    SavedView.objects.filter(user=user, pk=key).delete()
