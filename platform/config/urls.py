"""Every door of the site."""

from django.contrib import admin
from django.urls import URLPattern, URLResolver, include, path
from drf_spectacular.views import SpectacularAPIView, SpectacularSwaggerView

from apps.answers.api import openai
from apps.inference import urls as inference
from apps.metrics import urls as metrics
from apps.segments import views as segments

urlpatterns: list[URLPattern | URLResolver] = [
    path("", include("apps.metrics.urls")),
    path("admin/", admin.site.urls),
    path("api/v1/schema/", SpectacularAPIView.as_view(), name="schema"),
    path("api/v1/docs/", SpectacularSwaggerView.as_view(url_name="schema"), name="docs"),
    path("api/v1/answers/", include("apps.answers.urls")),
    path("api/v1/inference/", include("apps.inference.urls")),
    path("api/v1/segments/", include("apps.segments.urls")),
    path("media/hls/<str:folder>/<path:name>", segments.HlsFile.as_view(), name="hls"),
    path("player/<str:video>/", segments.Player.as_view(), name="player"),
    path("v1/models", openai.models),
    path("v1/chat/completions", openai.completions),
]
websocket_urlpatterns = [*metrics.websocket_urlpatterns, *inference.websocket_urlpatterns]

handler404 = "config.errors.not_found"
handler500 = "config.errors.broken"
