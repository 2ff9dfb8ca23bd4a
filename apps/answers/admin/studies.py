"""Replays of a candidate policy beside the current one, and calibrations."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from django.contrib import admin, messages
from django.http import HttpRequest, HttpResponse, HttpResponseRedirect
from django.urls import reverse
from django.utils.translation import gettext as _
from django.utils.translation import gettext_lazy as lazy
from unfold.decorators import display

from apps.access import services as access
from apps.access.admin.desk import back, demand, may, told
from apps.answers.admin.policies import differences
from apps.answers.admin.spaces import AnswersDesk, NamespaceFilter
from apps.answers.models import Calibration, Replay
from apps.answers.services import policies

COLOURS = {"done": "success", "failed": "danger", "running": "warning", "queued": "info"}
# name in the result, label, how it is written, whether more of it is better
MEASURES: tuple[tuple[str, Any, str, bool | None], ...] = (
    ("static_share", lazy("Answered from golden answers"), "share", True),
    ("hit_share", lazy("Answered from the cache"), "share", True),
    ("static_hit", lazy("Static hits"), "count", True),
    ("dynamic_hit", lazy("Dynamic hits"), "count", True),
    ("miss", lazy("Misses"), "count", False),
    ("error", lazy("Estimated error of direct hits"), "share", False),
    ("error_upper95", lazy("… at most (95%)"), "share", False),
    ("labelled_hits", lazy("… estimated from labelled hits"), "count", None),
    ("judge_calls", lazy("Judge calls"), "count", False),
    ("approvals", lazy("Approvals"), "count", None),
    ("judge_tokens", lazy("Judge tokens"), "count", False),
)


@dataclass(frozen=True, slots=True)
class Measure:
    """One line of the comparison."""

    label: Any
    current: str
    candidate: str
    change: str
    tone: str


@admin.register(Replay)
class ReplayAdmin(AnswersDesk):
    """Replays of this workspace, newest first; a new one begins at a namespace's policy."""

    people = ("by",)
    list_display = ("created_at", "namespace", "shown_status", "traffic", "requests", "share", "started_by")
    list_filter = (NamespaceFilter, "status")
    ordering = ("-pk",)
    sortable_by = ()

    @display(description=lazy("Status"), label=COLOURS)
    def shown_status(self, row: Replay) -> tuple[str, str]:
        """Show how far it is."""
        return row.status, row.get_status_display()

    @display(description=lazy("Questions"))
    def requests(self, row: Replay) -> Any:
        """Show how many questions were replayed."""
        return row.result.get("requests", "–")

    @display(description=lazy("Golden share: now → candidate"))
    def share(self, row: Replay) -> str:
        """Show what the candidate would do to the static-origin share."""
        sides = [row.result.get(side, {}).get("static_share") for side in ("current", "candidate")]
        return " → ".join("–" if value is None else f"{value:.1%}" for value in sides)

    @display(description=lazy("By"))
    def started_by(self, row: Replay) -> str:
        """Name who started it."""
        return str(getattr(row, "by_name", row.by))

    def change_view(
        self, request: HttpRequest, object_id: str, form_url: str = "", extra_context: dict[str, Any] | None = None
    ) -> HttpResponse:
        """Compare both policies, and put the candidate in force on request."""
        row = self.one(request, object_id)
        if request.method == "POST":
            return self._applied(request, row)
        return self.page(
            request,
            "answers/replay.html",
            _("Replay"),
            row=row,
            measures=measures(row.result),
            settings=differences(row.namespace.policy, row.candidate),
            may_operate=may(request, "operator"),
            started_by=access.names([row.by]).get(row.by, row.by),
            waits=row.status in {Replay.Status.QUEUED, Replay.Status.RUNNING, Replay.Status.WAITING},
        )

    def _applied(self, request: HttpRequest, row: Replay) -> HttpResponse:
        caller = demand(request, "operator")
        with told(request):
            policies.change(caller, row.namespace.name, row.candidate, f"replay {row.pk}")
            messages.success(request, _("The candidate is in force; the change can be undone here."))
            return back(request, "answers_namespace_change", row.namespace_id)
        return HttpResponseRedirect(request.path)


@admin.register(Calibration)
class CalibrationAdmin(AnswersDesk):
    """Calibrations of this workspace, newest first; the newest is drawn at its namespace."""

    people = ("by",)
    list_display = ("created_at", "namespace", "budget", "labels", "proposed", "made_by")
    list_filter = (NamespaceFilter,)
    ordering = ("-pk",)
    sortable_by = ()

    @display(description=lazy("Error budget"))
    def budget(self, row: Calibration) -> str:
        """Show the budget."""
        return f"{row.error_budget:.1%}"

    @display(description=lazy("Proposal"))
    def proposed(self, row: Calibration) -> str:
        """Show the proposed threshold, or why there is none."""
        tau = row.proposal.get("tau_static")
        return f"{tau:.4f}" if tau is not None else str(row.proposal.get("note", "–"))

    @display(description=lazy("By"))
    def made_by(self, row: Calibration) -> str:
        """Name who calibrated."""
        return str(getattr(row, "by_name", row.by))

    def change_view(
        self, request: HttpRequest, object_id: str, form_url: str = "", extra_context: dict[str, Any] | None = None
    ) -> HttpResponse:
        """Show it where it belongs."""
        row = self.one(request, object_id)
        return HttpResponseRedirect(reverse("admin:answers_namespace_change", args=[row.namespace_id]) + "#calibration")


def measures(result: dict[str, Any]) -> list[Measure]:
    """Write the comparison line by line; empty until the replay is done."""
    if "candidate" not in result:
        return []
    return [_measure(result, *each) for each in MEASURES]


def _measure(result: dict[str, Any], name: str, label: Any, kind: str, better: bool | None) -> Measure:
    now, then = result["current"].get(name), result["candidate"].get(name)
    if now is None or then is None:
        return Measure(label, _written(now, kind), _written(then, kind), "–", "")
    gain = then - now
    tone = "" if better is None or abs(gain) < 1e-9 else "good" if (gain > 0) == better else "bad"
    points = _("points")
    change = f"{gain * 100:+.1f} {points}" if kind == "share" else f"{gain:+,d}"
    return Measure(label, _written(now, kind), _written(then, kind), change if abs(gain) > 1e-9 else "=", tone)


def _written(value: Any, kind: str) -> str:
    if value is None:
        return "–"
    return f"{value:.1%}" if kind == "share" else f"{value:,d}"
