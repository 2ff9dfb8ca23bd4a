"""What the lists of this app share: rows of the workspace's namespaces, quick search, filters."""

from __future__ import annotations

from collections.abc import Iterable
from datetime import datetime
from typing import Any
from uuid import UUID

from django.contrib import admin
from django.db.models import QuerySet
from django.http import HttpRequest
from django.urls import reverse
from django.utils import timezone
from django.utils.formats import date_format
from django.utils.html import format_html
from django.utils.translation import gettext_lazy as _

from apps.access.admin.desk import Desk, seat
from apps.access.core.callers import Caller
from apps.answers.core import text
from apps.answers.models import Namespace

SEARCHED = 20_000


def spaces_of(caller: Caller | None) -> QuerySet[Namespace]:
    """Give the namespaces of the caller's workspace, by name."""
    if caller is None:
        return Namespace.objects.none()
    return Namespace.objects.filter(workspace_id=caller.workspace_id).order_by("name")


class NamespaceFilter(admin.SimpleListFilter):
    """Narrow a list to one namespace of this workspace."""

    title = _("namespace")
    parameter_name = "space"

    def lookups(self, request: HttpRequest, model_admin: Any) -> Iterable[tuple[str, str]]:
        """Offer the workspace's namespaces."""
        return [(str(pk), name) for pk, name in spaces_of(seat(request).caller).values_list("pk", "name")[:200]]

    def queryset(self, request: HttpRequest, queryset: QuerySet[Any]) -> QuerySet[Any]:
        """Keep one namespace's rows."""
        value = self.value()
        known = {key for key, _name in self.lookup_choices}
        return queryset.filter(namespace_id=value) if value in known else queryset


class AnswersDesk(Desk):
    """Rows of this workspace's namespaces."""

    list_select_related: Any = ("namespace",)

    def within(self, rows: QuerySet[Any], caller: Caller) -> QuerySet[Any]:
        """Name the namespaces outright, so that PostgreSQL can plan with how many rows each has."""
        return rows.filter(namespace_id__in=list(spaces_of(caller).values_list("pk", flat=True)))

    def get_list_display(self, request: HttpRequest) -> Any:
        """Leave the namespace out where there is only one."""
        columns = super().get_list_display(request)
        several = spaces_of(seat(request).caller)[:2].count() > 1
        return columns if several else tuple(name for name in columns if name != "space")


class BigDesk(AnswersDesk):
    """A list that may have millions of rows: newest first by its time-sorted key, searched in bounded time."""

    ordering: Any = ("-pk",)
    sortable_by: Any = ()
    search_fields: Any = ("question",)
    search_help_text = _("A question, words of a recent one, or an id")

    def get_search_results(
        self, request: HttpRequest, queryset: QuerySet[Any], search_term: str
    ) -> tuple[QuerySet[Any], bool]:
        """Find a row by its id, a question by its digest, or words among the newest 20,000 rows."""
        term = search_term.strip()
        if not term:
            return queryset, False
        if (key := as_uuid(term)) is not None:
            return queryset.filter(pk=key), False
        exact = queryset.filter(digest=text.digest(term)) if hasattr(self.model, "digest") else queryset.none()
        if exact.exists():
            return exact, False
        oldest = queryset.order_by("-pk").values_list("pk", flat=True)[SEARCHED - 1 : SEARCHED].first()
        recent = queryset.filter(pk__gte=oldest) if oldest else queryset
        return recent.filter(question__icontains=term), False


def as_uuid(term: str) -> UUID | None:
    """Read an id; None when it is none."""
    try:
        return UUID(term)
    except ValueError:
        return None


def link_to(name: str, key: Any, title: str, query: str = "") -> str:
    """Link to a page of the console by its URL name."""
    href = reverse(f"admin:{name}", args=[key] if key else []) + query
    return format_html('<a class="underline" href="{}">{}</a>', href, title)


def day(at: datetime) -> str:
    """Write a day."""
    return date_format(timezone.localtime(at), "j M Y")


def moment(at: datetime | None) -> str:
    """Write a time for a column, to the minute."""
    return date_format(timezone.localtime(at), "j M Y, H:i") if at else "–"


def number(value: float | None, digits: int = 3) -> str:
    """Write a number for a column."""
    return "–" if value is None else f"{value:.{digits}f}"
