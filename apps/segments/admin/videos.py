"""Videos, what is known of their segments, the view log and the pins."""

from __future__ import annotations

from typing import Any

from django import forms
from django.contrib import admin, messages
from django.http import HttpRequest, HttpResponse
from django.urls import path, reverse
from django.utils.html import format_html
from django.utils.safestring import SafeString
from django.utils.translation import gettext as _
from django.utils.translation import gettext_lazy as lazy
from django.views.decorators.http import require_POST
from unfold.decorators import display
from unfold.widgets import UnfoldAdminFileFieldWidget, UnfoldAdminSelectWidget, UnfoldAdminTextareaWidget
from unfold.widgets import UnfoldAdminTextInputWidget as Text

from apps.access.admin.desk import Desk, back, caller_of, demand, told
from apps.segments.models import Event, Moment, Pin, Segment, Video
from apps.segments.services import pinning, videos

SHOWN = 2_000
COLOURS = {"done": "success", "failed": "danger", "running": "warning", "queued": "info"}


class VideoForm(forms.ModelForm[Video]):
    """A new video: a file or the address of a playlist."""

    upload = forms.FileField(label=lazy("Video"), required=False, widget=UnfoldAdminFileFieldWidget)
    manifest = forms.CharField(
        label=lazy("Or an HLS playlist"), required=False, max_length=2000, widget=Text,
        help_text=lazy("From one of the origins in SEGMENTS_ORIGINS."),
    )  # fmt: skip
    captions = forms.CharField(
        label=lazy("Captions"), required=False, strip=False, widget=UnfoldAdminTextareaWidget,
        help_text=lazy("WebVTT or SubRip."),
    )  # fmt: skip

    class Meta:
        model = Video
        fields = ("title", "kind", "course")
        widgets = {"title": Text, "kind": UnfoldAdminSelectWidget, "course": Text}


@admin.register(Video)
class VideoAdmin(Desk):
    """Videos of this workspace: registered here, followed here, played from here."""

    workspace_path = "workspace_id"
    adds = deletes = "curator"
    form = VideoForm
    list_display = ("title", "shown_status", "kind", "course", "length", "player")
    list_filter = ("status", "kind", "created_at")
    search_fields = ("title", "course")
    ordering = ("-pk",)
    sortable_by = ()

    @display(description=lazy("Status"), label=COLOURS)
    def shown_status(self, row: Video) -> tuple[str, str]:
        """Show how far it is."""
        share = f" {row.done:.0%}" if row.status == Video.Status.RUNNING else ""
        return row.status, f"{row.get_status_display()}{share}"

    @display(description=lazy("Length"))
    def length(self, row: Video) -> str:
        """Write minutes and seconds."""
        seconds = round(row.duration_s or 0)
        return f"{seconds // 60}:{seconds % 60:02}" if seconds else "–"

    @display(description=lazy("Player"))
    def player(self, row: Video) -> SafeString | str:
        """Lead to the player."""
        if row.status != Video.Status.DONE:
            return "–"
        return format_html('<a class="underline" href="{}">{}</a>', reverse("player", args=[row.pk]), _("Play"))

    def save_model(self, request: HttpRequest, obj: Video, form: Any, change: bool) -> None:
        """Register through the service."""
        values = {name: form.cleaned_data[name] for name in ("title", "kind", "course", "manifest", "captions")}
        upload = form.cleaned_data.get("upload")
        row = videos.register(demand(request, "curator"), values, upload.chunks() if upload else None)
        obj.__dict__.update(row.__dict__)

    def delete_model(self, request: HttpRequest, obj: Video) -> None:
        """Forget through the service."""
        videos.remove(demand(request, "curator"), obj)

    def has_change_permission(self, request: HttpRequest, obj: Any = None) -> bool:
        """Show a video's own page to everybody; it changes nothing."""
        return False

    def change_view(
        self, request: HttpRequest, object_id: str, form_url: str = "", extra_context: dict[str, Any] | None = None
    ) -> HttpResponse:
        """Show a video and what is known of each segment."""
        row = self.one(request, object_id)
        moments = {each.index: each for each in Moment.objects.filter(video=row)[:SHOWN]}
        segments = Segment.objects.filter(video=row, rendition=0).order_by("index")[:SHOWN]
        pinned = set(Pin.objects.filter(video=row).values_list("index", flat=True))
        return self.page(
            request,
            "segments/video.html",
            row.title,
            row=row,
            rows=[(each, moments.get(each.index), each.index in pinned) for each in segments],
            whole=None in pinned,
        )

    def get_urls(self) -> list[Any]:
        """Add pinning and the search for similar segments."""
        wrap = self.admin_site.admin_view
        return [
            path("<uuid:object_id>/pin/", wrap(require_POST(self.pin)), name="segments_video_pin"),
            path("<uuid:object_id>/similar/<int:index>/", wrap(self.similar), name="segments_video_similar"),
            *super().get_urls(),
        ]

    def pin(self, request: HttpRequest, object_id: Any) -> HttpResponse:
        """Pin a segment, or the whole video."""
        row, asked = self.one(request, str(object_id)), request.POST.get("index", "")
        with told(request):
            pinning.pin(demand(request, "curator"), row.pk, int(asked) if asked.isdigit() else None, "")
            messages.success(request, _("Pinned: it stays at every edge, within the share that pins may take."))
        return back(request, "segments_video_change", row.pk)

    def similar(self, request: HttpRequest, object_id: Any, index: int) -> HttpResponse:
        """List the segments most like one."""
        row = self.one(request, str(object_id))
        found: list[Any] = []
        with told(request):
            found = videos.similar(row, index)
        return self.page(
            request, "segments/similar.html", _("Segments like this one"), row=row, index=index, found=found
        )


@admin.register(Pin)
class PinAdmin(Desk):
    """What stays at every edge."""

    workspace_path = "workspace_id"
    deletes = "curator"
    list_display = ("video", "index", "reason", "created_at")
    list_select_related = ("video",)
    ordering = ("-pk",)

    def delete_model(self, request: HttpRequest, obj: Pin) -> None:
        """Take it out through the service."""
        pinning.unpin(caller_of(request), obj)


@admin.register(Event)
class EventAdmin(Desk):
    """The view log: viewers are known by a keyed hash only."""

    workspace_path = "workspace_id"
    list_display = ("at", "who", "video", "event", "position", "rendition")
    list_select_related = ("video",)
    list_filter = ("event", "at")
    ordering = ("-at",)
    sortable_by = ()
    fields = readonly_fields = ("at", "who", "video", "event", "position", "rendition", "session")

    @display(description=lazy("Viewer"))
    def who(self, row: Event) -> str:
        """Write the first letters of the hash."""
        return bytes(row.viewer).hex()[:8]

    @display(description=lazy("Position"))
    def position(self, row: Event) -> str:
        """Write minutes and seconds."""
        return f"{int(row.position_s) // 60}:{int(row.position_s) % 60:02}"
