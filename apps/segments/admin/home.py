"""What waits in the segment cache, for the console's first page."""

from __future__ import annotations

from django.http import HttpRequest
from django.urls import reverse
from django.utils.translation import gettext as _

from apps.access.admin.desk import caller_of
from apps.access.admin.lists import count_up_to
from apps.metrics.admin.home import MOST, Task, register_tasks
from apps.segments.models import Edge, Video


def tasks(request: HttpRequest) -> list[Task]:
    """List videos that failed and edges that only watch so far; nothing before the cache is used."""
    workspace = caller_of(request).workspace_id
    videos, edges = Video.objects.filter(workspace_id=workspace), Edge.objects.filter(workspace_id=workspace)
    if not videos.exists() and not edges.exists():
        return []
    return [
        Task(_("Videos that failed"), count_up_to(videos.filter(status=Video.Status.FAILED), MOST),
             reverse("admin:segments_video_changelist") + "?status__exact=failed", _("Each says why."), "bad"),
        Task(_("Edges in shadow"), edges.filter(shadow=True).count(), reverse("admin:segments_edge_changelist"),
             _("Their plans are decided and compared with LRU, and nothing is done."), "", "operator"),
    ]  # fmt: skip


register_tasks(tasks)
