"""The player: a video played through an edge, in sight of what is predicted and what lies there."""

from __future__ import annotations

from typing import Any

from django.conf import settings
from django.contrib.auth.mixins import LoginRequiredMixin
from django.http import FileResponse, Http404, HttpRequest, HttpResponse
from django.http.response import HttpResponseBase
from django.utils.translation import gettext_lazy as _
from django.views import View
from django.views.generic import TemplateView

from apps.access.api.authentication import chosen_workspace
from apps.access.models import User
from apps.segments.services import storage

# What the page's script says; {…} is filled in by it.
WORDS = {
    "player": _("Player"),
    "play": _("Play"),
    "pause": _("Pause"),
    "through": _("Through the edge {edge}"),
    "direct": _("Straight from the origin: no edge is known"),
    "not_ready": _("This video is not ready to be played yet."),
    "unknown_edge": _("{edge} is no edge of this workspace."),
    "broken": _("The video cannot be loaded ({detail}). Trying again."),
    "summary": _("{held} of {all} segments are at the edge; {likely} are expected next, {ready} of them are there."),
}


class Player(LoginRequiredMixin, TemplateView):
    """Play one video; the page asks the API for everything about it, in the viewer's own name."""

    template_name = "player/player.html"

    def get(self, request: HttpRequest, *args: Any, **kwargs: Any) -> HttpResponse:
        """Remember a workspace that the address names: the page's own calls are made in it."""
        if "workspace" in request.GET:
            request.session["workspace"] = request.GET["workspace"]
        return super().get(request, *args, **kwargs)

    def get_context_data(self, **kwargs: Any) -> dict[str, Any]:
        """Give the page the video's id, the workspace and the edge that is set for players."""
        user = self.request.user
        assert isinstance(user, User)
        return super().get_context_data(
            workspace=chosen_workspace(self.request, user),
            edge=getattr(settings, "SEGMENTS_EDGE_URL", ""),
            words={name: str(word) for name, word in WORDS.items()},
            **kwargs,
        )


class HlsFile(View):
    """A file of a video that was cut here, for edges and players; its address is its key."""

    def get(self, request: HttpRequest, folder: str, name: str) -> HttpResponseBase:
        """Send a playlist, an initialisation section or a segment; HEAD too."""
        found = storage.served(folder, name)
        if found is None:
            raise Http404
        path, kind = found
        reply = FileResponse(path.open("rb"), content_type=kind)
        reply["Cache-Control"] = "public, max-age=31536000, immutable"
        reply["Access-Control-Allow-Origin"] = "*"
        return reply
