"""Doors of the segments API."""

from django.urls import URLPattern, URLResolver, include, path
from rest_framework.routers import SimpleRouter

from apps.segments.api import edges, models, videos, viewing

router = SimpleRouter(use_regex_path=False)
router.register("videos", videos.VideoViewSet, basename="video")
router.register("edges", edges.EdgeViewSet, basename="edge")
router.register("pins", edges.PinViewSet, basename="pin")
router.register("models", models.PredictorViewSet, basename="predictor")

urlpatterns: list[URLPattern | URLResolver] = [
    path("views/", viewing.ViewsView.as_view()),
    path("cmcd/", viewing.CmcdView.as_view()),
    path("predict/", viewing.PredictView.as_view()),
    path("", include(router.urls)),
]
