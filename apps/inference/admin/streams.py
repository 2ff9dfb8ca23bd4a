"""Streams: which are open, what became of their pictures, closing one."""

from __future__ import annotations

from typing import Any

from django.contrib import admin, messages
from django.http import HttpRequest, HttpResponse
from django.utils.translation import gettext as _
from django.utils.translation import gettext_lazy as lazy
from unfold.decorators import display

from apps.access.admin.desk import Desk, back, demand, may, told
from apps.inference import services
from apps.inference.admin.jobs import told_settings
from apps.inference.models import Stream

COLOURS = {"open": "success", "closed": "default", "expired": "warning"}


@admin.register(Stream)
class StreamAdmin(Desk):
    """Streams of this workspace, newest first."""

    workspace_path = "workspace_id"
    people = ("by",)
    list_display = (
        "created_at",
        "network",
        "mode",
        "shown_status",
        "frames",
        "reused_share",
        "shown_agreement",
        "last_frame_at",
    )
    list_filter = ("status", "mode")
    list_select_related = ("network",)
    ordering = ("-pk",)
    sortable_by = ()

    @display(description=lazy("Status"), label=COLOURS)
    def shown_status(self, row: Stream) -> tuple[str, str]:
        """Say whether it takes pictures."""
        return row.status, row.get_status_display()

    @display(description=lazy("Reused or partial"))
    def reused_share(self, row: Stream) -> str:
        """Show how many frames used the cache."""
        return f"{(row.reused + row.partial) / row.frames:.1%}" if row.frames else "–"

    @display(description=lazy("Agreement"))
    def shown_agreement(self, row: Stream) -> str:
        """Show the measured agreement."""
        return "–" if row.agreement is None else f"{row.agreement:.1%}"

    def change_view(
        self, request: HttpRequest, object_id: str, form_url: str = "", extra_context: dict[str, Any] | None = None
    ) -> HttpResponse:
        """Show a stream; close it on request."""
        row = self.one(request, object_id)
        if request.method == "POST":
            caller = demand(request, "client")
            with told(request):
                services.close(caller, row)
                messages.success(request, _("The stream is closed."))
            return back(request, "inference_stream_change", row.pk)
        return self.page(
            request, "inference/stream.html", _("Stream"), row=row, is_open=row.status == Stream.Status.OPEN,
            may_close=may(request, "client") and row.status == Stream.Status.OPEN, share=self.reused_share(row),
            agreement=self.shown_agreement(row), settings=told_settings(row),
        )  # fmt: skip
