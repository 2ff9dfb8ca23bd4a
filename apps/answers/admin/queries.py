"""The query log: what was asked, what was served, and to whom; with the feedback on it."""

from __future__ import annotations

from typing import Any

from django.contrib import admin
from django.db.models import QuerySet
from django.http import HttpRequest, HttpResponse
from django.utils.translation import gettext_lazy as _
from unfold.decorators import display

from apps.access.admin.desk import Desk, seat
from apps.access.admin.tables import short
from apps.access.core.callers import Caller
from apps.answers.admin.spaces import BigDesk, NamespaceFilter, as_uuid, link_to, number, spaces_of
from apps.answers.models import Feedback, GoldenAnswer, Query

COLOURS = {"static_hit": "success", "dynamic_hit": "info", "miss": "default", "bypass": "default"}


class OriginFilter(admin.SimpleListFilter):
    """Narrow the log by where answers came from; the choices are known, so no million rows are read for them."""

    title = _("origin")
    parameter_name = "from"

    def lookups(self, request: HttpRequest, model_admin: Any) -> list[tuple[str, Any]]:
        """Offer the origins of the contract."""
        return [("golden", _("Golden answer")), ("generated", _("Generated")), ("client", _("Filled by a client"))]

    def queryset(self, request: HttpRequest, queryset: QuerySet[Query]) -> QuerySet[Query]:
        """Keep one origin."""
        return queryset.filter(origin=self.value()) if self.value() else queryset


@admin.register(Query)
class QueryAdmin(BigDesk):
    """Served questions, newest first; filtered by golden answer this is "who was served this?"."""

    people = ("by",)
    list_display = (
        "created_at",
        "asked",
        "shown_outcome",
        "static",
        "dynamic",
        "guards_fired",
        "client",
        "space",
        "took",
    )
    list_display_links = ("created_at", "asked")
    list_filter = ("outcome", NamespaceFilter, "grey", OriginFilter, "created_at")
    list_before_template = "answers/query_list.html"
    fields = (
        "created_at", "space", "client", "question", "shown_outcome", "origin", "reason", "golden", "entry",
        "verification", "static", "dynamic", "guards_fired", "grey", "took",
    )  # fmt: skip
    readonly_fields = (
        "space", "client", "shown_outcome", "golden", "entry", "verification", "static", "dynamic", "guards_fired",
        "took",
    )  # fmt: skip

    @display(description=_("Question"))
    def asked(self, row: Query) -> str:
        """Show the question."""
        return short(row.question)

    @display(description=_("Outcome"), label=COLOURS)
    def shown_outcome(self, row: Query) -> tuple[str, str]:
        """Show the outcome."""
        return row.outcome, row.get_outcome_display()

    @display(description=_("Golden"))
    def static(self, row: Query) -> str:
        """Show the similarity to the nearest golden question."""
        return number(row.s_static)

    @display(description=_("Entry"))
    def dynamic(self, row: Query) -> str:
        """Show the similarity to the nearest entry."""
        return number(row.s_dynamic)

    @display(description=_("Guards"))
    def guards_fired(self, row: Query) -> str:
        """Show which guards held a hit back."""
        return ", ".join(row.guards) or "–"

    @display(description=_("Served to"))
    def client(self, row: Query) -> str:
        """Name who asked."""
        return str(getattr(row, "by_name", row.by))

    @display(description=_("Namespace"))
    def space(self, row: Query) -> str:
        """Show the namespace."""
        return row.namespace.name

    @display(description=_("Time"))
    def took(self, row: Query) -> str:
        """Show how long it took."""
        return f"{row.total_ms:.1f} ms"

    @display(description=_("Golden answer"))
    def golden(self, row: Query) -> str:
        """Link to the golden answer and its version."""
        title = f"{row.golden_id} v{row.golden_version}"
        return link_to("answers_goldenanswer_change", row.golden_id, title) if row.golden_id else "–"

    @display(description=_("Entry served"))
    def entry(self, row: Query) -> str:
        """Link to the entry."""
        return link_to("answers_entry_change", row.entry_id, str(row.entry_id)) if row.entry_id else "–"

    @display(description=_("Verification"))
    def verification(self, row: Query) -> str:
        """Link to the verification that this question asked for."""
        key = row.verification_id
        return link_to("answers_verification_change", key, str(key)) if key else "–"

    def changelist_view(self, request: HttpRequest, extra_context: dict[str, Any] | None = None) -> HttpResponse:
        """Say whose servings are listed when the list is about one golden answer."""
        key = as_uuid(request.GET.get("golden_id__exact", ""))
        rows = GoldenAnswer.objects.filter(namespace__in=spaces_of(seat(request).caller))
        about = rows.filter(pk=key).first() if key else None
        more = {"about": about, "version": request.GET.get("golden_version__exact")}
        response: HttpResponse = super().changelist_view(request, {**(extra_context or {}), **more})
        return response


@admin.register(Feedback)
class FeedbackAdmin(Desk):
    """What clients said of served answers, newest first."""

    workspace_path = "query__namespace__workspace_id"
    people = ("by",)
    list_display = ("created_at", "shown_verdict", "asked", "note", "client")
    list_select_related = ("query",)
    list_filter = ("verdict", "created_at")
    ordering = ("-pk",)
    sortable_by = ()
    fields = ("created_at", "shown_verdict", "asked", "note", "client")
    readonly_fields = ("shown_verdict", "asked", "client")

    def within(self, rows: QuerySet[Any], caller: Caller) -> QuerySet[Any]:
        """Keep what was said of this workspace's queries."""
        return rows.filter(query__namespace_id__in=list(spaces_of(caller).values_list("pk", flat=True)))

    @display(description=_("Verdict"), label={"good": "success", "bad": "danger"})
    def shown_verdict(self, row: Feedback) -> tuple[str, str]:
        """Show good or bad."""
        return row.verdict, row.get_verdict_display()

    @display(description=_("Question"))
    def asked(self, row: Feedback) -> str:
        """Link to what was served."""
        return link_to("answers_query_change", row.query_id, short(row.query.question))

    @display(description=_("By"))
    def client(self, row: Feedback) -> str:
        """Name who said it."""
        return str(getattr(row, "by_name", row.by))
