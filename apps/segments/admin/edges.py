"""Edges: how they stand, their last plan with reasons, and what an operator decides."""

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
from apps.segments.core import control
from apps.segments.models import Edge
from apps.segments.services import collapsing, edges

SHOWN_LINES = 200
COLOURS = {"active": "success", "shadow": "info", "fallback": "warning", "lost": "danger"}
MEASURES = {
    control.Measure.STANDBY: lazy("Serve from the retention curve"),
    control.Measure.PREWARM: lazy("Prewarm the beginnings in every rendition"),
    control.Measure.WINDOW: lazy("Look less far ahead (x 0.7)"),
}


@admin.register(Edge)
class EdgeAdmin(Desk):
    """Edges of this workspace."""

    workspace_path = "workspace_id"
    deletes = "operator"
    list_display = ("name", "state", "occupied", "hit", "saved", "seen_at")
    ordering = ("name",)
    sortable_by = ()

    @display(
        description=lazy("State"),
        label={"active": "success", "shadow": "info", "fallback": "warning", "lost": "danger"},
    )
    def state(self, row: Edge) -> tuple[str, str]:
        """Say whether it is heard of and what it does."""
        if edges.lost(row):
            return "lost", _("not heard of")
        return row.mode, {"active": _("follows plans"), "fallback": _("fell back to LRU")}.get(row.mode, _("in shadow"))

    @display(description=lazy("Occupied"))
    def occupied(self, row: Edge) -> str:
        """Write the share of its capacity."""
        return f"{row.occupied_bytes / row.capacity_bytes:.0%}" if row.capacity_bytes else "–"

    @display(description=lazy("Byte hits"))
    def hit(self, row: Edge) -> str:
        """Write the byte hit rate of the last minutes."""
        return "–" if row.byte_hit is None else f"{row.byte_hit:.1%}"

    @display(description=lazy("Against LRU"))
    def saved(self, row: Edge) -> str:
        """Write which share of LRU's origin bytes the plan saves over the windows that are known."""
        share = saved_share(row)
        return "–" if share is None else f"{-share:+.1%}"

    def delete_model(self, request: HttpRequest, obj: Edge) -> None:
        """Forget through the service."""
        edges.remove(demand(request, "operator"), obj)

    def change_view(
        self, request: HttpRequest, object_id: str, form_url: str = "", extra_context: dict[str, Any] | None = None
    ) -> HttpResponse:
        """Show an edge, its last plan and the comparison with LRU."""
        row = self.one(request, object_id)
        plan = row.plans.order_by("-pk").first()
        parts = (("prewarm", _("Prewarm")), ("pin", _("Pin")), ("evict", _("Evict")), ("refused", _("Left out")))
        return self.page(
            request,
            "segments/edge.html",
            row.name,
            row=row,
            lost=edges.lost(row),
            plan=plan,
            parts=[(title, getattr(plan, name)[:SHOWN_LINES], len(getattr(plan, name))) for name, title in parts]
            if plan
            else [],
            saved=saved_share(row),
            measures=[(measure.value, text, measure.value in row.measures) for measure, text in MEASURES.items()],
            may_operate=may(request, "operator"),
        )

    def get_urls(self) -> list[Any]:
        """Add the acts of the page."""
        act = self.admin_site.admin_view(require_POST(self.act))
        return [path("<uuid:object_id>/act/<slug:verb>/", act, name="segments_edge_act"), *super().get_urls()]

    def act(self, request: HttpRequest, object_id: Any, verb: str) -> HttpResponse:
        """Take an edge out of shadow or back, or take a measure against a collapse."""
        row, caller = self.one(request, str(object_id)), demand(request, "operator")
        with told(request):
            if verb in ("activate", "shadow"):
                edges.configure(caller, row, shadow=verb == "shadow")
                messages.success(request, _("From its next plan on."))
            else:
                collapsing.take_measure(caller, row, verb)
                messages.success(request, _("In force until the alarm ends."))
        return back(request, "segments_edge_change", row.pk)


def saved_share(row: Edge) -> float | None:
    """Give the share of LRU's origin bytes that the plan saves over the known windows; None without any."""
    lru = sum(window["lru_origin_bytes"] for window in row.windows)
    own = sum(window["plan_origin_bytes"] for window in row.windows)
    return 1 - own / lru if lru else None
