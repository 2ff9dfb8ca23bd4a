"""Doors of metrics."""

from django.urls import path

from apps.metrics import api, consumers, views

urlpatterns = [
    path("", views.Dashboard.as_view(), name="dashboard"),
    path("runbooks/", views.Runbooks.as_view(), name="runbooks"),
    path("api/v1/metrics/", api.SeriesView.as_view(), name="metrics"),
    path("healthz", api.alive),
    path("readyz", api.ready),
    path("metrics", api.prometheus),
]
websocket_urlpatterns = [path("ws/metrics/", consumers.LiveMetrics.as_asgi())]
