"""Series for plots, Prometheus, and whether the site is alive and ready."""

from __future__ import annotations

import re
from typing import Any

from django.http import HttpRequest, HttpResponse, JsonResponse
from drf_spectacular.utils import OpenApiParameter, extend_schema
from prometheus_client import CONTENT_TYPE_LATEST
from rest_framework import serializers
from rest_framework.request import Request
from rest_framework.response import Response
from rest_framework.views import APIView

from apps.access import services as access
from apps.access.api.authentication import caller_of
from apps.metrics import services
from apps.metrics.services import exposition
from apps.metrics.services.reading import MOST_POINTS

SPAN = re.compile(r"(\d{1,5})(s|m|h|d)\Z")
SECONDS = {"s": 1, "m": 60, "h": 3_600, "d": 86_400}
LONGEST_S = 30 * 86_400


class PointSerializer(serializers.Serializer[Any]):
    """One step of a series."""

    at = serializers.DateTimeField()
    requests = serializers.IntegerField()
    counts = serializers.DictField(child=serializers.IntegerField())
    hit_share = serializers.FloatField(allow_null=True)
    golden_share = serializers.FloatField(allow_null=True)
    p50 = serializers.FloatField(allow_null=True)
    p95 = serializers.FloatField(allow_null=True)
    p99 = serializers.FloatField(allow_null=True)


class SeriesSerializer(serializers.Serializer[Any]):
    """A series of one cache; latencies are milliseconds."""

    cache = serializers.ChoiceField(services.CACHES)
    subject = serializers.CharField(allow_blank=True)
    window_s = serializers.IntegerField()
    step_s = serializers.IntegerField()
    points = PointSerializer(many=True)


class SeriesView(APIView):
    """What a cache did over time."""

    scope = "client"

    @extend_schema(
        operation_id="metrics_series",
        parameters=[
            OpenApiParameter("cache", str, enum=services.CACHES, default="answers"),
            OpenApiParameter("subject", str, description="A namespace, model or edge; all of them without it."),
            OpenApiParameter("workspace", str, description="The slug, for people in several workspaces."),
            OpenApiParameter("window", str, default="15m", description="How far back: 90s, 15m, 6h, 7d."),
            OpenApiParameter("step", str, default="10s", description="Seconds per point, 10s at least."),
        ],
        responses={200: SeriesSerializer},
    )
    def get(self, request: Request) -> Response:
        """Give counts per outcome and latency quantiles."""
        cache = request.query_params.get("cache", "answers")
        if cache not in services.CACHES:
            raise access.Invalid(f"Must be one of {', '.join(services.CACHES)}.", field="cache")
        window_s = _span(request, "window", "15m")
        step_s = max(_span(request, "step", "10s"), 60 if window_s > 7_000 else 10)
        if window_s // step_s > MOST_POINTS:
            raise access.Invalid(f"At most {MOST_POINTS} points; take a larger step.", field="step")
        subject = request.query_params.get("subject", "")
        points = services.series(caller_of(request).workspace_id, cache, window_s, step_s, subject)
        head = {"cache": cache, "subject": subject, "window_s": window_s, "step_s": step_s}
        return Response({**head, "points": points})


def _span(request: Request, name: str, default: str) -> int:
    match = SPAN.match(request.query_params.get(name, default))
    seconds = int(match[1]) * SECONDS[match[2]] if match else 0
    if not 10 <= seconds <= LONGEST_S:
        raise access.Invalid("Must be a span from 10s to 30d, such as 15m.", field=name)
    return seconds


def alive(request: HttpRequest) -> HttpResponse:
    """Say that this process answers."""
    return JsonResponse({"status": "alive"})


def ready(request: HttpRequest) -> HttpResponse:
    """Say whether every needed part works, and which does not."""
    parts = services.readiness()
    broken = any(parts.values())
    body = {"status": "not ready" if broken else "ready", "parts": {name: why or "ok" for name, why in parts.items()}}
    response = JsonResponse(body, status=503 if broken else 200)
    if broken:
        response["Retry-After"] = "5"
    return response


def prometheus(request: HttpRequest) -> HttpResponse:
    """Give the counters of the last two hours in Prometheus's format; without workspace names or texts."""
    return HttpResponse(exposition.render(), content_type=CONTENT_TYPE_LATEST)
