"""Predictor versions and trainings."""

from __future__ import annotations

from typing import Any

from django.contrib import admin, messages
from django.http import HttpRequest, HttpResponse
from django.urls import path
from django.utils.translation import gettext as _
from django.utils.translation import gettext_lazy as lazy
from django.views.decorators.http import require_POST
from unfold.decorators import display

from apps.access.admin.desk import Desk, back, demand, may, told
from apps.segments.models import Predictor, Training
from apps.segments.services import training, versions


@admin.register(Predictor)
class PredictorAdmin(Desk):
    """Versions of the predictor: which one serves, and how each did on viewers it had not seen."""

    workspace_path = "workspace_id"
    list_display = (
        "number",
        "kind",
        "role",
        "standing",
        "shown_loss",
        "shown_baseline",
        "shown_p99",
        "views",
        "created_at",
    )
    list_before_template = "segments/predictor_list.html"
    ordering = ("-number",)
    sortable_by = ()

    def get_queryset(self, request: HttpRequest) -> Any:
        """Leave the models themselves in the database."""
        return super().get_queryset(request).defer("state")

    @display(description=lazy("State"), label={"serves": "success", "passed": "info", "refused": "danger"})
    def standing(self, row: Predictor) -> tuple[str, str]:
        """Say whether it serves, could, or may not."""
        if row.serving:
            return "serves", _("serves")
        if row.kind == Predictor.Kind.RETENTION:
            return "passed", _("stands by")
        return ("passed", _("may serve")) if row.passes else ("refused", _("no better than without it"))

    @display(description=lazy("p99, ms"))
    def shown_p99(self, row: Predictor) -> str:
        """Write how long a prediction takes."""
        return "–" if row.p99_ms is None else f"{row.p99_ms:.2f}"

    @display(description=lazy("Log-loss"))
    def shown_loss(self, row: Predictor) -> str:
        """Write the held-out log-loss."""
        return "–" if row.loss is None else f"{row.loss:.4f}"

    @display(description=lazy("Retention curve's"))
    def shown_baseline(self, row: Predictor) -> str:
        """Write that of the retention curve."""
        return "–" if row.baseline is None else f"{row.baseline:.4f}"

    def change_view(
        self, request: HttpRequest, object_id: str, form_url: str = "", extra_context: dict[str, Any] | None = None
    ) -> HttpResponse:
        """Show a version."""
        row = self.one(request, object_id)
        return self.page(
            request, "segments/predictor.html", str(row), row=row, state=self.standing(row)[1],
            may_operate=may(request, "operator"),
        )  # fmt: skip

    def get_urls(self) -> list[Any]:
        """Add serving and training."""
        wrap = self.admin_site.admin_view
        return [
            path("<uuid:object_id>/serve/", wrap(require_POST(self.serve)), name="segments_predictor_serve"),
            path("train/", wrap(require_POST(self.train)), name="segments_predictor_train"),
            *super().get_urls(),
        ]

    def serve(self, request: HttpRequest, object_id: Any) -> HttpResponse:
        """Let a version serve."""
        row = self.one(request, str(object_id))
        with told(request):
            versions.serve(demand(request, "operator"), row)
            messages.success(request, _("It serves now."))
        return back(request, "segments_predictor_change", row.pk)

    def train(self, request: HttpRequest) -> HttpResponse:
        """Queue a training of a kind, or of all that learn from the view log."""
        with told(request):
            training.train(demand(request, "operator"), request.POST.get("kind", ""))
        messages.success(request, _("The training is queued; its versions appear here."))
        return back(request, "segments_predictor_changelist")


@admin.register(Training)
class TrainingAdmin(Desk):
    """Trainings and what came of them."""

    workspace_path = "workspace_id"
    list_display = ("created_at", "status", "kind", "error")
    ordering = ("-pk",)
    sortable_by = ()
    fields = readonly_fields = ("created_at", "status", "kind", "result", "error", "finished_at")
