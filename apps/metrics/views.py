"""The operators' dashboard."""

from __future__ import annotations

from typing import Any

from django.contrib.auth.mixins import LoginRequiredMixin
from django.http import HttpRequest, HttpResponse, HttpResponseRedirect
from django.urls import reverse
from django.views.generic import TemplateView

from apps.access import services as access
from apps.access.api.authentication import chosen_workspace
from apps.access.models import User

RANGES = ("5m", "15m", "1h", "6h", "24h", "7d")


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
        """Give the page its workspaces and ranges."""
        user = self.request.user
        assert isinstance(user, User)
        return super().get_context_data(
            workspaces=access.workspaces_of(user),
            workspace=chosen_workspace(self.request, user),
            ranges=RANGES,
            **kwargs,
        )
