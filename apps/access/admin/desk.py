"""What every page of the console shares: one workspace at a time, and what each role may do there."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from typing import Any, ClassVar, NoReturn

from django.contrib import messages
from django.contrib.admin import ShowFacets
from django.core.exceptions import PermissionDenied
from django.db.models import QuerySet
from django.http import Http404, HttpRequest, HttpResponse, HttpResponseRedirect
from django.template.response import TemplateResponse
from django.urls import path, reverse
from django.utils.translation import gettext as _
from django.views.decorators.http import require_safe
from unfold.admin import ModelAdmin

from apps.access import services
from apps.access.admin.lists import CappedPaginator, DeskList, name_people
from apps.access.admin.tables import download
from apps.access.api.authentication import chosen_workspace
from apps.access.core.callers import SCOPES, Caller
from apps.access.models import User, Workspace

EVERYBODY, OWNER = "", "owner"


@dataclass(frozen=True, slots=True)
class Seat:
    """Where a person sits: the workspace they chose, and who they are in it."""

    workspace: Workspace | None = None
    caller: Caller | None = None


def seat(request: HttpRequest) -> Seat:
    """Find the seat of a request once."""
    found = getattr(request, "desk_seat", None)
    if isinstance(found, Seat):
        return found
    user, taken = request.user, Seat()
    if isinstance(user, User) and user.is_active and user.is_staff:
        workspace = chosen_workspace(request, user)
        taken = Seat(workspace, services.caller_for_user(user, workspace) if workspace else None)
    request.desk_seat = taken  # type: ignore[attr-defined]
    return taken


def caller_of(request: HttpRequest) -> Caller:
    """Give the person behind a request as a caller.

    Raises:
        PermissionDenied: they are a member of no workspace.
    """
    caller = seat(request).caller
    if caller is None:
        raise PermissionDenied
    return caller


def user_of(request: HttpRequest) -> User:
    """Give the signed-in person."""
    if not isinstance(request.user, User):
        raise PermissionDenied
    return request.user


def may(request: HttpRequest, scope: str | None) -> bool:
    """Say whether a person holds a scope where they sit; `owner` asks for all of them, None for nobody."""
    caller = seat(request).caller
    if caller is None or scope is None:
        return False
    if scope == OWNER:
        return all(caller.may(each) for each in SCOPES)
    return scope == EVERYBODY or caller.may(scope)


def demand(request: HttpRequest, scope: str) -> Caller:
    """Give the caller if they hold a scope.

    Raises:
        PermissionDenied: they do not.
    """
    if not may(request, scope):
        raise PermissionDenied
    return caller_of(request)


def context(request: HttpRequest) -> dict[str, Any]:
    """Tell every page of the console which workspaces there are to choose from."""
    if not isinstance(request.user, User):
        return {}
    return {"workspaces": services.workspaces_of(request.user), "workspace": seat(request).workspace}


@contextmanager
def told(request: HttpRequest) -> Iterator[None]:
    """Tell a person why something was refused, instead of failing."""
    try:
        yield
    except services.ProblemError as problem:
        messages.error(request, explain(problem))


def explain(problem: services.ProblemError) -> str:
    """Write a refusal as one text: what is wrong, field by field where that says more."""
    if all(message == problem.detail for _field, message in problem.errors):
        return problem.detail
    return problem.detail + " " + " ".join(f"{field}: {message}" for field, message in problem.errors)


def back(request: HttpRequest, name: str, *args: Any) -> HttpResponseRedirect:
    """Go to a page of the console by its URL name."""
    return HttpResponseRedirect(reverse(f"admin:{name}", args=args))


class Desk(ModelAdmin):
    """Rows of one workspace; the class says which scope reads, adds, changes and deletes them."""

    workspace_path: ClassVar[str] = "namespace__workspace_id"
    reads: ClassVar[str] = EVERYBODY
    adds: ClassVar[str | None] = None
    changes: ClassVar[str | None] = None
    deletes: ClassVar[str | None] = None
    people: ClassVar[tuple[str, ...]] = ()
    has_csv: ClassVar[bool] = True

    paginator = CappedPaginator
    show_full_result_count = False
    list_per_page = 30
    list_max_show_all = 0
    show_facets = ShowFacets.NEVER  # they count every row of a list

    def within(self, rows: QuerySet[Any], caller: Caller) -> QuerySet[Any]:
        """Keep what belongs to the caller's workspace."""
        return rows.filter(**{self.workspace_path: caller.workspace_id})

    def get_queryset(self, request: HttpRequest) -> QuerySet[Any]:
        """Give the rows of the chosen workspace, none without one."""
        rows: QuerySet[Any] = super().get_queryset(request)
        caller = seat(request).caller
        return self.within(rows, caller) if caller else rows.none()

    def get_changelist(self, request: HttpRequest, **kwargs: Any) -> Any:
        """Use lists that are completed page by page."""
        return DeskList

    def complete(self, request: HttpRequest, rows: list[Any]) -> None:
        """Add to a page of rows what its columns show."""
        if self.people:
            name_people(rows, self.people)

    def has_module_permission(self, request: HttpRequest) -> bool:
        """Say whether these rows are shown at all."""
        return may(request, self.reads)

    def has_view_permission(self, request: HttpRequest, obj: Any = None) -> bool:
        """Say whether a person may read."""
        return may(request, self.reads)

    def has_add_permission(self, request: HttpRequest, obj: Any = None) -> bool:
        """Say whether a person may add."""
        return may(request, self.adds)

    def has_change_permission(self, request: HttpRequest, obj: Any = None) -> bool:
        """Say whether a person may change."""
        return may(request, self.changes)

    def has_delete_permission(self, request: HttpRequest, obj: Any = None) -> bool:
        """Say whether a person may delete."""
        return may(request, self.deletes)

    def get_urls(self) -> list[Any]:
        """Add the list as a CSV file."""
        view = self.admin_site.admin_view(require_safe(self.csv_view))
        return [path("csv/", view, name=f"{self.opts.app_label}_{self.opts.model_name}_csv"), *super().get_urls()]

    def csv_view(self, request: HttpRequest) -> HttpResponse:
        """Give the list as it is filtered and ordered."""
        if not self.has_view_permission(request):
            raise PermissionDenied
        return download(request, self)  # type: ignore[return-value]

    def get_actions(self, request: HttpRequest) -> Any:
        """Offer only our own acts: Django's bulk deletion knows no services."""
        actions = super().get_actions(request)
        actions.pop("delete_selected", None)
        return actions

    def _get_obj_does_not_exist_redirect(self, request: HttpRequest, opts: Any, object_id: str) -> NoReturn:
        """Answer 404 for what is not there, or not in this workspace: both look the same."""
        raise Http404(_("This workspace has no such row."))

    def one(self, request: HttpRequest, object_id: str) -> Any:
        """Give a row of this workspace, or 404."""
        row = self.get_object(request, object_id)
        if row is None:
            raise Http404(_("This workspace has no such row."))
        return row

    def changeform_view(
        self,
        request: HttpRequest,
        object_id: str | None = None,
        form_url: str = "",
        extra_context: dict[str, Any] | None = None,
    ) -> HttpResponse:
        """Show or save a form; what a service refuses is told above it."""
        try:
            response: HttpResponse = super().changeform_view(request, object_id, form_url, extra_context)
        except services.ProblemError as problem:
            messages.error(request, explain(problem))
            return HttpResponseRedirect(request.path)
        return response

    def history_view(
        self, request: HttpRequest, object_id: str, extra_context: dict[str, Any] | None = None
    ) -> HttpResponse:
        """Show what the audit log knows of a row."""
        self.one(request, object_id)
        return HttpResponseRedirect(reverse("admin:access_auditevent_changelist") + f"?target_id={object_id}")

    def page(self, request: HttpRequest, template: str, title: str, **context: Any) -> TemplateResponse:
        """Show a page of our own inside the console."""
        request.current_app = self.admin_site.name
        return TemplateResponse(
            request, template, {**self.admin_site.each_context(request), "title": title, "desk": self, **context}
        )

    def log_addition(self, request: HttpRequest, obj: Any, message: Any) -> None:
        """Leave logging to the services."""

    def log_change(self, request: HttpRequest, obj: Any, message: Any) -> None:
        """Leave logging to the services."""

    def log_deletions(self, request: HttpRequest, queryset: Any) -> None:
        """Leave logging to the services."""
