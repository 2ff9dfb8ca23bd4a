"""The operators' dashboard, and the runbooks."""

from __future__ import annotations

from typing import Any

import markdown
from django.conf import settings
from django.contrib.auth.mixins import LoginRequiredMixin
from django.http import HttpRequest, HttpResponse, HttpResponseRedirect
from django.urls import reverse
from django.utils.safestring import mark_safe
from django.utils.translation import gettext_lazy as _
from django.views.generic import TemplateView

from apps.access import services as access
from apps.access.api.authentication import chosen_workspace
from apps.access.models import User
from apps.metrics import services

RANGES = ("5m", "15m", "1h", "6h", "24h", "7d")
OTHERS = (("inference", _("Inference"), _("Model")), ("segments", _("Segments"), _("Edge")))
# What the page's script says; {…} is filled in by it.
WORDS = {
    "static_hit": _("Static hit"),
    "dynamic_hit": _("Dynamic hit"),
    "miss": _("Miss"),
    "bypass": _("Bypass"),
    "reused": _("Reused"),
    "partial": _("Partial"),
    "dense": _("Dense"),
    "stored": _("Stored"),
    "hit": _("Hit"),
    "pinned_hit": _("Pinned hit"),
    "prewarm": _("Prewarmed"),
    "speedup": _("Speed-up"),
    "agreement": _("Agreement"),
    "running": _("Jobs running"),
    "queued": _("Jobs waiting"),
    "streams": _("Streams open"),
    "byte_hit": _("Byte hit rate"),
    "origin_bytes": _("From the origin"),
    "prewarm_bytes": _("Prewarmed"),
    "viewers": _("Watching now"),
    "edges": _("Edges"),
    "startup_p95_s": _("Start-up, p95"),
    "golden": _("Golden answers"),
    "hits": _("All hits"),
    "approve": _("Approved"),
    "reject": _("Rejected"),
    "unsure": _("Unsure"),
    "depth": _("In the queue"),
    "oldest": _("Oldest waits"),
    "review": _("For a person"),
    "rate": _("Approve rate"),
    "promoted": _("Promoted"),
    "refused": _("Promotions refused"),
    "dropped": _("Dropped, over budget"),
    "tokens": _("Judge tokens"),
    "judge_ms": _("Time per verdict"),
    "grey": _("Near misses"),
    "fail_open": _("Fell open"),
    "no_guards": _("No guard held anything back."),
    "no_data": _("Nothing was asked in this time."),
    "live": _("Live"),
    "connecting": _("Connecting"),
    "stale": _("Not live: the last news is {age} old. Trying again."),
    "stale_short": _("The page is not live any more."),
    "out": _("You are signed out. Sign in again to go on."),
    "per_s": _("{number} a second"),
    "runbook": _("What to do"),
    "span": _("last {range}"),
    "change": _("{points} points in the last {range}"),
    "plot": _("{title}, last {range}. Use the arrow keys to read values."),
    "idle": _("no questions in the last five minutes"),
    "share_note": _("of {number} questions in the last five minutes were answered with a golden answer"),
}


class Dashboard(LoginRequiredMixin, TemplateView):
    """What the caches do, live."""

    template_name = "metrics/dashboard.html"

    def get(self, request: HttpRequest, *args: Any, **kwargs: Any) -> HttpResponse:
        """Remember a chosen workspace, and show the page."""
        if "workspace" in request.GET:
            request.session["workspace"] = request.GET["workspace"]
            return HttpResponseRedirect(reverse("dashboard"))
        return super().get(request, *args, **kwargs)

    def get_context_data(self, **kwargs: Any) -> dict[str, Any]:
        """Give the page its workspaces, namespaces, ranges and words."""
        user = self.request.user
        assert isinstance(user, User)
        workspace = chosen_workspace(self.request, user)
        return super().get_context_data(
            workspaces=access.workspaces_of(user),
            workspace=workspace,
            subjects=services.subjects(workspace.pk, "answers") if workspace else [],
            ranges=RANGES,
            others=OTHERS,
            words={name: str(word) for name, word in WORDS.items()},
            **kwargs,
        )


class Runbooks(LoginRequiredMixin, TemplateView):
    """What to do about each alarm: the page of the documents, with an anchor for each."""

    template_name = "metrics/runbooks.html"

    def get_context_data(self, **kwargs: Any) -> dict[str, Any]:
        """Give the page the document, written as HTML."""
        text = (settings.BASE_DIR / "docs" / "runbooks.md").read_text(encoding="utf-8")
        written = markdown.markdown(text, extensions=["attr_list", "tables"], output_format="html")
        return super().get_context_data(document=mark_safe(written), **kwargs)  # noqa: S308 - our own document
