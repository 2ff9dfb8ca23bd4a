"""Doors of the answers API."""

from django.urls import URLPattern, URLResolver, include, path
from rest_framework.routers import SimpleRouter

from apps.access.api.pool import pooled
from apps.answers.api import policies, query, studies, verifications

router = SimpleRouter(use_regex_path=False)
router.register("verifications", verifications.VerificationViewSet, basename="verification")
router.register("calibrations", studies.CalibrationViewSet, basename="calibration")
router.register("replays", studies.ReplayViewSet, basename="replay")

urlpatterns: list[URLPattern | URLResolver] = [
    path("query/", pooled(query.QueryView.as_view())),
    path("query/batch/", pooled(query.BatchView.as_view())),
    path("query/<uuid:pk>/fill/", pooled(query.FillView.as_view())),
    path("policies/<str:namespace>/", policies.PolicyView.as_view()),
    path("", include(router.urls)),
    path("", include("apps.answers.api.golden_urls")),
]
