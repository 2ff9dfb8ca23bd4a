"""Doors of the two tiers' upkeep: golden answers, entries, feedback."""

from django.urls import URLPattern, URLResolver, include, path
from rest_framework.routers import SimpleRouter

from apps.answers.api import golden

router = SimpleRouter(use_regex_path=False)
router.register("golden", golden.GoldenViewSet, basename="golden")

urlpatterns: list[URLPattern | URLResolver] = [path("", include(router.urls))]
