"""Doors of the inference API."""

from django.urls import URLPattern, URLResolver, include, path
from rest_framework.routers import SimpleRouter

from apps.inference import consumers
from apps.inference.api import jobs, networks, results, streams

router = SimpleRouter(use_regex_path=False)
router.register("models", networks.NetworkViewSet, basename="network")
router.register("jobs", jobs.JobViewSet, basename="job")
router.register("streams", streams.StreamViewSet, basename="stream")

urlpatterns: list[URLPattern | URLResolver] = [
    path("jobs/<uuid:pk>/results.jsonl", results.LinesView.as_view(), name="job-jsonl"),
    path("jobs/<uuid:pk>/results.csv", results.TableView.as_view(), name="job-csv"),
    path("jobs/<uuid:pk>/reuse/<int:number>.png", results.ReuseView.as_view(), name="job-reuse"),
    path("jobs/<uuid:pk>/report/", results.ReportView.as_view(), name="job-report"),
    path("jobs/<uuid:pk>/annotated.mp4", results.AnnotatedView.as_view(), name="job-annotated"),
    path("", include(router.urls)),
]
websocket_urlpatterns: list[URLPattern] = [path("ws/jobs/<uuid:pk>/", consumers.JobProgress.as_asgi())]
