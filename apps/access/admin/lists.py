"""Lists that stay quick however many rows there are: nothing counts a million rows, names come in one read."""

from __future__ import annotations

from functools import cached_property
from typing import Any, ClassVar

from django.core.paginator import Paginator
from django.db import OperationalError, connection, transaction
from django.http import HttpRequest
from unfold.views import ChangeList

from apps.access import services
from apps.access.api.authentication import chosen_workspace
from apps.access.models import SavedView, User

MOST = 5_000
PATIENCE_MS = 250


def count_up_to(rows: Any, most: int = MOST) -> int:
    """Count rows, but no further than `most` + 1 and no longer than a quarter of a second."""
    try:
        with transaction.atomic(), connection.cursor() as cursor:
            cursor.execute(f"SET LOCAL statement_timeout = {PATIENCE_MS}")
            found = int(rows.order_by()[: most + 1].count())
            cursor.execute("SET LOCAL statement_timeout TO DEFAULT")
            return found
    except OperationalError:
        return most + 1


class CappedPaginator(Paginator[Any]):
    """Pages over the first 5,000 rows; older ones are reached with filters and search."""

    template_name: ClassVar[str] = "admin/pagination_capped.html"

    @cached_property
    def found(self) -> int:
        """How many rows there are, or 5,001 for more."""
        return count_up_to(self.object_list)

    @cached_property
    def count(self) -> int:
        """How many rows can be paged through."""
        return min(self.found, MOST)

    @property
    def capped(self) -> bool:
        """Whether there are more rows than pages show."""
        return self.found > MOST


class DeskList(ChangeList):
    """A list whose page of rows is completed by its admin in one go."""

    result_list: Any

    def get_results(self, request: HttpRequest) -> None:
        """Read the page, then let the admin add what its columns show."""
        super().get_results(request)
        if not self.query and not self.has_active_filters:
            self.full_result_count = self.result_count
        if not self.result_count:
            # Looking once more would take as long as counting did.
            self.result_list = self.queryset.none()
        self.model_admin.complete(request, list(self.result_list))
        self.saved_views = self._saved_views(request)

    def _saved_views(self, request: HttpRequest) -> list[SavedView]:
        workspace = chosen_workspace(request, request.user) if isinstance(request.user, User) else None
        return list(services.views(request.user, workspace, request.path)) if workspace else []  # type: ignore[arg-type]


def name_people(rows: list[Any], fields: tuple[str, ...]) -> None:
    """Put `<field>_name` beside every field that holds a caller's name, for people to read."""
    told = services.names(getattr(row, field) for row in rows for field in fields)
    for row in rows:
        for field in fields:
            said = getattr(row, field)
            setattr(row, f"{field}_name", told.get(said, said))
