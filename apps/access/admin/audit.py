"""The audit log: who did what, when; read only."""

from __future__ import annotations

from typing import Any

from django.apps import apps
from django.contrib import admin
from django.db.models import QuerySet
from django.http import HttpRequest
from django.urls import NoReverseMatch, reverse
from django.utils.html import format_html
from django.utils.translation import gettext as _
from django.utils.translation import gettext_lazy as lazy
from unfold.decorators import display

from apps.access.admin.desk import Desk, seat
from apps.access.models import AuditEvent, User


class MemberFilter(admin.SimpleListFilter):
    """Narrow the log to one member."""

    title = lazy("member")
    parameter_name = "who"

    def lookups(self, request: HttpRequest, model_admin: Any) -> list[tuple[str, str]]:
        """Offer the workspace's members."""
        rows = User.objects.filter(memberships__workspace=seat(request).workspace).order_by("username")
        return [(str(row.pk), row.username) for row in rows[:200]]

    def queryset(self, request: HttpRequest, queryset: QuerySet[AuditEvent]) -> QuerySet[AuditEvent]:
        """Keep one member's acts."""
        known = {key for key, _name in self.lookup_choices}
        value = self.value()
        return queryset.filter(user_id=value) if value in known and value else queryset


class TargetFilter(admin.SimpleListFilter):
    """Narrow the log to one kind of row."""

    title = lazy("kind")
    parameter_name = "kind"

    def lookups(self, request: HttpRequest, model_admin: Any) -> list[tuple[str, Any]]:
        """Offer every kind of row that the console has a page for."""
        kinds = sorted(model_admin.admin_site._registry, key=lambda model: str(model._meta.verbose_name))
        return [(model._meta.label_lower, model._meta.verbose_name) for model in kinds]

    def queryset(self, request: HttpRequest, queryset: QuerySet[AuditEvent]) -> QuerySet[AuditEvent]:
        """Keep one kind."""
        return queryset.filter(target=self.value()) if self.value() else queryset


@admin.register(AuditEvent)
class AuditAdmin(Desk):
    """Acts of people and keys in this workspace, newest first."""

    workspace_path = "workspace_id"
    list_display = ("created_at", "who", "verb", "on_what", "shown_detail")
    list_display_links = ("created_at",)
    list_select_related = ("user", "key")
    list_filter = ("created_at", MemberFilter, TargetFilter)
    ordering = ("-pk",)  # keys are sorted by time
    sortable_by = ()
    fields = ("created_at", "who", "verb", "on_what", "detail")
    readonly_fields = ("who", "on_what")
    search_fields = ("target_id",)
    search_help_text = lazy("Search by the id of a row")

    @display(description=lazy("Who"))
    def who(self, row: AuditEvent) -> str:
        """Name the person or the key."""
        if row.user:
            return str(row.user)
        return _("key %(name)s") % {"name": row.key.name} if row.key else "–"

    @display(description=lazy("On"))
    def on_what(self, row: AuditEvent) -> str:
        """Link to the row, as long as it has a page."""
        model = row.target.rpartition(".")[2]
        try:
            title = apps.get_model(row.target)._meta.verbose_name
            link = reverse(f"admin:{row.target.replace('.', '_')}_change", args=[row.target_id])
        except (LookupError, ValueError, NoReverseMatch):
            return model
        return format_html('<a class="underline" href="{}">{}</a>', link, title)

    @display(description=lazy("Detail"))
    def shown_detail(self, row: AuditEvent) -> str:
        """Show what belongs to the act, shortened."""
        parts = [f"{name}: {value}" for name, value in row.detail.items() if value not in (None, "", [])]
        text = " · ".join(parts)
        return text if len(text) <= 120 else text[:119] + "…"
