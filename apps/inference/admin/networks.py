"""Models: what they are, what can be reused in them, and registering one."""

from __future__ import annotations

from typing import Any

from django.contrib import admin, messages
from django.http import HttpRequest, HttpResponse
from django.utils.translation import gettext as _
from django.utils.translation import gettext_lazy as lazy
from unfold.decorators import display

from apps.access import services as access
from apps.access.admin.desk import Desk, back, demand, may, told
from apps.inference import services
from apps.inference.admin.forms import NetworkForm
from apps.inference.api.networks import NetworkRequest
from apps.inference.models import Network

COLOURS = {"done": "success", "failed": "danger", "running": "warning", "queued": "info"}
READY = {"done": lazy("Ready"), "queued": lazy("Being prepared"), "running": lazy("Being prepared")}


@admin.register(Network)
class NetworkAdmin(Desk):
    """Models of this workspace."""

    workspace_path = "workspace_id"
    adds = "operator"
    people = ("by",)
    list_display = ("name", "purpose", "shown_status", "size", "fastest", "memory", "created_at")
    ordering = ("name",)
    sortable_by = ()

    @display(description=lazy("Status"), label=COLOURS)
    def shown_status(self, row: Network) -> tuple[str, str]:
        """Say whether it can be run."""
        return row.status, str(READY.get(row.status, row.get_status_display()))

    @display(description=lazy("Input"))
    def size(self, row: Network) -> str:
        """Show the input's size."""
        return f"{row.input_width} × {row.input_height}"

    @display(description=lazy("Work for 0.5% dirty"))
    def fastest(self, row: Network) -> str:
        """Show the work that the smallest change costs in exact mode."""
        shares = row.analysis.get("shares") or []
        return f"{shares[0]['work']:.0%}" if shares else "–"

    @display(description=lazy("Memory per stream"))
    def memory(self, row: Network) -> str:
        """Show what a stream's cache takes."""
        return f"{row.analysis['cache_bytes'] / 1e6:.0f} MB" if row.analysis else "–"

    def add_view(
        self, request: HttpRequest, form_url: str = "", extra_context: dict[str, Any] | None = None
    ) -> HttpResponse:
        """Register an uploaded network."""
        caller = demand(request, "operator")
        form = NetworkForm(request.POST, request.FILES) if request.method == "POST" else NetworkForm()
        if request.method == "POST" and form.is_valid():
            row = None
            with told(request):
                row = services.register(caller, _facts(form), form.cleaned_data["file"].chunks())
            if row is not None:
                messages.success(request, _("Registered: this is what can be reused."))
                return back(request, "inference_network_change", row.pk)
        return self.page(request, "inference/network_add.html", _("Register a model"), form=form)

    def change_view(
        self, request: HttpRequest, object_id: str, form_url: str = "", extra_context: dict[str, Any] | None = None
    ) -> HttpResponse:
        """Show the analysis; delete on request."""
        row = self.one(request, object_id)
        if request.method == "POST":
            caller = demand(request, "operator")
            with told(request):
                services.remove(caller, row)
                messages.success(request, _("The model is gone."))
                return back(request, "inference_network_changelist")
            return back(request, "inference_network_change", row.pk)
        return self.page(
            request, "inference/network.html", row.name, row=row, analysis=row.analysis, shares=shares(row),
            nodes=row.analysis.get("nodes", []), may_operate=may(request, "operator"), waits=row.status in READY
            and not row.ready,
        )  # fmt: skip


def _facts(form: NetworkForm) -> services.Facts:
    """Read the form's texts as the API reads them.

    Raises:
        Invalid: mean or deviation are no three numbers.
    """
    sent = {name: value for name, value in form.cleaned_data.items() if value not in (None, "")}
    body = NetworkRequest(data={**sent, "labels": form.cleaned_data["labels"].splitlines()})
    if not body.is_valid():
        field, words = next(iter(body.errors.items()))
        raise access.Invalid(f"{field}: {_first(words)}", field=field)
    values = {name: value for name, value in body.validated_data.items() if name not in {"file", "task"}}
    return services.Facts(purpose=body.validated_data["task"], **values)


def _first(words: Any) -> str:
    while isinstance(words, list | dict) and words:
        words = next(iter(words.values())) if isinstance(words, dict) else words[0]
    return str(words)


def shares(row: Network) -> list[dict[str, Any]]:
    """Write what dirty shares cost, with the best speed-up that leaves room for."""
    found = row.analysis.get("shares", [])
    return [
        {
            **each,
            "times": 1 / max(each["work"], 1e-3),
            "percent": round(100 * each["work"]),
            "changed": f"{each['dirty']:.1%}",
        }
        for each in found
    ]
