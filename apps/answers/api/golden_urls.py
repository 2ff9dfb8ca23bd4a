"""Doors of the two tiers' upkeep: golden answers, entries, feedback."""

from django.urls import URLPattern, URLResolver, include, path
from rest_framework.routers import SimpleRouter

from apps.access.api.pool import pooled
from apps.answers.api import entries, feedback, golden

router = SimpleRouter(use_regex_path=False)
router.register("golden", golden.GoldenViewSet, basename="golden")
router.register("entries", entries.EntryViewSet, basename="entry")

urlpatterns: list[URLPattern | URLResolver] = [
    path("query/<uuid:pk>/feedback/", pooled(feedback.FeedbackView.as_view())),
    path("", include(router.urls)),
]
