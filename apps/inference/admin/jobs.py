"""Jobs: submit a video, watch it live, read its report and its reuse maps."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

from django.contrib import admin, messages
from django.http import Http404, HttpRequest, HttpResponse
from django.http.response import HttpResponseBase
from django.urls import path
from django.utils.translation import gettext as _
from django.utils.translation import gettext_lazy as lazy
from unfold.decorators import display

from apps.access import services as access
from apps.access.admin.desk import Desk, back, caller_of, demand, may, told
from apps.access.core.callers import Caller
from apps.inference import services
from apps.inference.admin.forms import JobForm
from apps.inference.admin.networks import COLOURS
from apps.inference.api.results import video
from apps.inference.core.summing import Tape
from apps.inference.models import Job, Planned
from apps.inference.services import results
from apps.inference.services.jobs import OPEN

WORDS = {
    "frames": lazy("Frames"), "reused": lazy("Reused"), "partial": lazy("Partial"), "dense": lazy("Dense"),
    "work_share": lazy("Work done"), "p50_ms": lazy("Median, ms"), "p95_ms": lazy("p95, ms"),
    "plain_p50_ms": lazy("Plain median, ms"), "speedup": lazy("Speed-up"), "agreement": lazy("Agreement"),
    "bail_outs": lazy("Bail-outs"),
}  # fmt: skip
FIRST = ("speedup", "agreement", "work_share")


@admin.register(Job)
class JobAdmin(Desk):
    """Jobs of this workspace, newest first."""

    workspace_path = "workspace_id"
    adds = "client"
    people = ("by",)
    list_display = ("created_at", "title", "network", "mode", "shown_status", "frames_done", "speedup", "agreement")
    list_display_links = ("created_at", "title")
    list_filter = ("status", "mode")
    list_select_related = ("network",)
    search_fields = ("title",)
    ordering = ("-pk",)
    sortable_by = ()

    @display(description=lazy("Status"), label=COLOURS)
    def shown_status(self, row: Job) -> tuple[str, str]:
        """Show how far it is."""
        return row.status, _("Stored") if row.stored else row.get_status_display()

    @display(description=lazy("Frames"))
    def frames_done(self, row: Job) -> str:
        """Show how many frames are done."""
        return f"{row.done:,} / {row.total:,}" if row.total else f"{row.done:,}"

    @display(description=lazy("Speed-up"))
    def speedup(self, row: Job) -> str:
        """Show how much faster it was than the plain engine."""
        value = row.stats.get("speedup")
        return f"{value:.2f}×" if value else "–"

    @display(description=lazy("Agreement"))
    def agreement(self, row: Job) -> str:
        """Show the measured agreement."""
        value = row.stats.get("agreement")
        return "–" if value is None else f"{value:.1%}"

    def get_urls(self) -> list[Any]:
        """Add what the page of a job shows, for everybody who may read it."""
        wrap = self.admin_site.admin_view
        return [
            path("<uuid:pk>/reuse/<int:number>.png", wrap(self.reuse_view), name="inference_job_reuse"),
            path("<uuid:pk>/report/", wrap(self.report_view), name="inference_job_report"),
            path("<uuid:pk>/annotated.mp4", wrap(self.annotated_view), name="inference_job_annotated"),
            *super().get_urls(),
        ]

    def reuse_view(self, request: HttpRequest, pk: Any, number: int) -> HttpResponse:
        """Draw the reuse map of a frame."""
        with found():
            return HttpResponse(results.reuse_map(self.one(request, str(pk)), number), content_type="image/png")

    def report_view(self, request: HttpRequest, pk: Any) -> HttpResponse:
        """Give the report."""
        return HttpResponse(results.report(self.one(request, str(pk))))

    def annotated_view(self, request: HttpRequest, pk: Any) -> HttpResponseBase:
        """Give the annotated video."""
        with found():
            return video(results.annotated(self.one(request, str(pk))), request.headers.get("Range", ""))

    def add_view(
        self, request: HttpRequest, form_url: str = "", extra_context: dict[str, Any] | None = None
    ) -> HttpResponse:
        """Submit a video."""
        caller = demand(request, "client")
        sent = request.method == "POST"
        initial = {"model": request.GET.get("model", ""), "mode": request.GET.get("mode", "exact")}
        form = JobForm(caller, request.POST, request.FILES) if sent else JobForm(caller, initial=initial)
        if sent and form.is_valid():
            row = None
            with told(request):
                row = _submitted(caller, form)
            if row is not None:
                if row.stored:
                    messages.success(request, _("This video was run before: here are the stored results."))
                return back(request, "inference_job_change", row.pk)
        return self.page(request, "inference/job_add.html", _("Run a video"), form=form)

    def change_view(
        self, request: HttpRequest, object_id: str, form_url: str = "", extra_context: dict[str, Any] | None = None
    ) -> HttpResponse:
        """Follow a job live; cancel it on request."""
        row = self.one(request, object_id)
        if request.method == "POST":
            demand(request, "client")
            with told(request):
                services.cancel(caller_of(request), row)
                messages.success(request, _("Cancelled; what is done so far is kept."))
            return back(request, "inference_job_change", row.pk)
        return self.page(
            request, "inference/job.html", str(row), row=row, numbers=numbers(row), waits=row.status in OPEN,
            may_cancel=may(request, "client") and row.status in OPEN, last=max(0, row.done - 1),
            shown=telling(row), settings=told_settings(row),
        )  # fmt: skip


@contextmanager
def found() -> Iterator[None]:
    """Answer 404 for what a job does not have."""
    try:
        yield
    except access.Missing as problem:
        raise Http404(problem.detail) from problem


def telling(row: Job) -> int:
    """Choose the frame whose map is shown first: one that was computed in part, where there is one."""
    first = row.rows().filter(outcome="partial").values_list("number", flat=True).first()
    return first or 0


def told_settings(row: Planned) -> list[tuple[str, Any]]:
    """Write the settings of a job or stream."""
    words = {True: _("on"), False: _("off")}
    values = {name: value for name, value in row.settings().items() if value is not None}
    return [(name, words[value] if isinstance(value, bool) else value) for name, value in values.items()]


def _submitted(caller: Caller, form: JobForm) -> Job:
    file, path = form.cleaned_data["file"], form.cleaned_data["path"]
    kept = services.keep_video(caller, file.name, file.chunks()) if file else services.named_video(path)
    return services.submit(caller, form.cleaned_data["model"], kept, **form.plan())


def numbers(row: Job) -> list[tuple[str, Any, str]]:
    """Write the statistics: name, label, value; the telling ones first."""
    stats = {**Tape().stats(), **row.stats}
    names = (*FIRST, *(name for name in WORDS if name not in FIRST))
    return [(name, WORDS[name], written(name, stats[name])) for name in names]


def written(name: str, value: Any) -> str:
    """Write one statistic."""
    if value is None:
        return "–"
    if name == "speedup":
        return f"{value:.2f}×"
    if name in {"agreement", "work_share"}:
        return f"{value:.1%}"
    return f"{value:,.1f}" if name.endswith("_ms") else f"{value:,}"
