"""Weights and measures: one page of settings for all plans of a workspace."""

from __future__ import annotations

from typing import Any

from django.contrib import admin, messages
from django.http import HttpRequest, HttpResponse, HttpResponseRedirect
from django.urls import reverse
from django.utils.translation import gettext as _
from django.utils.translation import gettext_lazy as lazy

from apps.access.admin.desk import Desk, back, caller_of, demand
from apps.segments.models import Tuning
from apps.segments.services import tuning


@admin.register(Tuning)
class TuningAdmin(Desk):
    """The workspace's one row of settings; it is made when somebody first opens the page."""

    workspace_path = "workspace_id"
    changes = "operator"
    fieldsets = (
        (lazy("What a segment is worth"), {"fields": (*Tuning.MULTIPLIERS, "source_score")}),
        (lazy("Edges"), {"fields": ("pin_share", "source_marks", "automatic")}),
        (lazy("What is known of a segment"), {"fields": ("pictures", "captions", "slides")}),
    )

    def changelist_view(self, request: HttpRequest, extra_context: dict[str, Any] | None = None) -> HttpResponse:
        """Go to the one row."""
        workspace = caller_of(request).workspace_id
        row, _fresh = Tuning.objects.get_or_create(workspace_id=workspace)
        return HttpResponseRedirect(reverse("admin:segments_tuning_change", args=[row.pk]))

    def save_model(self, request: HttpRequest, obj: Tuning, form: Any, change: bool) -> None:
        """Save through the service."""
        tuning.change(demand(request, "operator"), obj, form.changed_data)

    def response_change(self, request: HttpRequest, obj: Tuning) -> HttpResponse:
        """Stay on the page."""
        messages.success(request, _("In force from the next plan on."))
        return back(request, "segments_tuning_change", obj.pk)
