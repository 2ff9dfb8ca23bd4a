"""What of the inference cache waits for a person on the console's first page."""

from __future__ import annotations

from datetime import timedelta

from django.db.models.functions import Now
from django.http import HttpRequest
from django.urls import reverse
from django.utils.translation import gettext as _

from apps.access.admin.desk import may, seat
from apps.access.admin.lists import count_up_to
from apps.inference.models import Job, Network
from apps.metrics.admin.home import MOST, Task, register_tasks


def tasks(request: HttpRequest) -> list[Task]:
    """List them for operators."""
    caller = seat(request).caller
    if caller is None or not may(request, "operator"):
        return []
    recent = Job.objects.filter(workspace_id=caller.workspace_id, created_at__gt=Now() - timedelta(days=7))
    failed, page = recent.filter(status=Job.Status.FAILED), reverse("admin:inference_job_changelist")
    broken = Network.objects.filter(workspace_id=caller.workspace_id, status=Network.Status.FAILED)
    return [
        Task(_("Videos that could not be run"), count_up_to(failed, MOST),
             page + "?status__exact=failed", _("In the last week. Each says why."), "bad", "operator"),
        Task(_("Models that could not be prepared"), count_up_to(broken, MOST),
             reverse("admin:inference_network_changelist"), _("Each says why."), "bad", "operator"),
    ]  # fmt: skip


register_tasks(tasks)
