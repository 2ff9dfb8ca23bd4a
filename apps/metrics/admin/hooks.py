"""Who is told of alarms and reviews, what they were told, and the alarms themselves."""

from __future__ import annotations

from typing import Any

from django import forms
from django.contrib import admin, messages
from django.http import HttpRequest, HttpResponse
from django.urls import path
from django.utils.translation import gettext as _
from django.utils.translation import gettext_lazy as lazy
from django.views.decorators.http import require_POST
from unfold.decorators import display

from apps.access.admin.desk import EVERYBODY, Desk, back, demand
from apps.metrics import services
from apps.metrics.models import Alarm, Hook, Notice

MOST = 20


class HookForm(forms.ModelForm[Hook]):
    """What a person sets."""

    class Meta:
        model = Hook
        fields = ("name", "kind", "address", "alarms", "reviews", "active")


@admin.register(Hook)
class HookAdmin(Desk):
    """Webhooks and e-mail addresses of this workspace."""

    workspace_path = "workspace_id"
    reads = adds = changes = deletes = "operator"
    form = HookForm
    list_display = ("name", "kind", "address", "alarms", "reviews", "active")
    fields = ("name", "kind", "address", "alarms", "reviews", "active")
    change_form_outer_before_template = "admin/metrics/hook_acts.html"

    def save_model(self, request: HttpRequest, obj: Hook, form: Any, change: bool) -> None:
        """Let the service check and save."""
        services.save(demand(request, "operator"), obj)

    def delete_model(self, request: HttpRequest, obj: Hook) -> None:
        """Forget a hook."""
        services.remove(demand(request, "operator"), obj)

    def change_view(
        self, request: HttpRequest, object_id: str, form_url: str = "", extra_context: dict[str, Any] | None = None
    ) -> HttpResponse:
        """Show the secret, and what was told lately."""
        row = self.one(request, object_id)
        notices = Notice.objects.filter(hook=row).order_by("-pk")[:MOST]
        more = {**(extra_context or {}), "notices": notices}
        page: HttpResponse = super().change_view(request, object_id, form_url, more)
        return page

    def get_urls(self) -> list[Any]:
        """Add the button that sends a trial message."""
        trial = self.admin_site.admin_view(require_POST(self.trial))
        return [path("<uuid:object_id>/trial/", trial, name="metrics_hook_trial"), *super().get_urls()]

    def trial(self, request: HttpRequest, object_id: Any) -> HttpResponse:
        """Send a message that means nothing."""
        demand(request, "operator")
        row = self.one(request, str(object_id))
        services.notify(
            row, "trial", {"title": _("A trial message"), "detail": _("Touchstone can reach you."), "link": ""}
        )
        messages.success(request, _("A trial message is on its way."))
        return back(request, "metrics_hook_change", row.pk)


@admin.register(Alarm)
class AlarmAdmin(Desk):
    """Alarms of this workspace, newest first."""

    workspace_path = "workspace_id"
    reads = EVERYBODY
    list_display = ("title", "detail", "created_at", "ended_at", "state")
    list_filter = (("ended_at", admin.EmptyFieldListFilter),)
    ordering = ("-id",)
    search_fields = ("title",)

    @display(description=lazy("State"), label={"lasts": "danger", "over": "success"})
    def state(self, row: Alarm) -> tuple[str, str]:
        """Say whether it lasts."""
        return ("over", _("Over")) if row.ended_at else ("lasts", _("Lasts"))
