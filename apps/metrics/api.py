"""Series for plots, Prometheus, and whether the site is alive and ready."""

from __future__ import annotations

import re
from hmac import compare_digest
from typing import Any

from django.conf import settings
from django.http import HttpRequest, HttpResponse, JsonResponse
from drf_spectacular.types import OpenApiTypes
from drf_spectacular.utils import OpenApiParameter, extend_schema
from prometheus_client import CONTENT_TYPE_LATEST
from rest_framework import serializers
from rest_framework.permissions import BasePermission
from rest_framework.request import Request
from rest_framework.response import Response
from rest_framework.views import APIView

from apps.access import services as access
from apps.access.api.authentication import caller_of
from apps.access.api.problems import problem_response
from apps.access.core.callers import Caller
from apps.access.models import Workspace
from apps.metrics import services
from apps.metrics.services import exposition
from apps.metrics.services.reading import FINE_S, MOST_POINTS

SPAN = re.compile(r"([0-9]{1,5})(s|m|h|d)\Z")
SECONDS = {"s": 1, "m": 60, "h": 3_600, "d": 86_400}
LONGEST_S = 30 * 86_400

PROBLEMS = {(status, "application/problem+json"): OpenApiTypes.OBJECT for status in (400, 401, 403, 404, 422, 429, 503)}


class SeriesPointSerializer(serializers.Serializer[Any]):
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
    points = SeriesPointSerializer(many=True)


class IsCaller(BasePermission):
    """Demand a key or a member of the workspace, whatever the scope."""

    def has_permission(self, request: Request, view: APIView) -> bool:
        """Say whether somebody is known."""
        return isinstance(request.user, Caller)


class SeriesView(APIView):
    """What a cache did over time; open to every member of the workspace, viewers too."""

    permission_classes = (IsCaller,)

    @extend_schema(
        operation_id="metrics_series",
        parameters=[
            OpenApiParameter("cache", str, enum=services.CACHES, default="answers"),
            OpenApiParameter("subject", str, description="A namespace, model or edge; all of them without it."),
            OpenApiParameter("workspace", str, description="The slug, for people in several workspaces."),
            OpenApiParameter("window", str, default="15m", description="How far back: 90s, 15m, 6h, 7d."),
            OpenApiParameter(
                "step", str, default="10s", description="Per point: 10s at least, 1m for windows over 1h."
            ),
        ],
        responses={200: SeriesSerializer, **PROBLEMS},
    )
    def get(self, request: Request) -> Response:
        """Give counts per outcome and latency quantiles."""
        cache = request.query_params.get("cache", "answers")
        if cache not in services.CACHES:
            raise access.Invalid(f"Must be one of {', '.join(services.CACHES)}.", field="cache")
        window_s = _span(request, "window", "15m")
        step_s = max(_span(request, "step", "10s"), 60 if window_s > FINE_S else 10)
        if window_s // step_s > MOST_POINTS:
            raise access.Invalid(f"At most {MOST_POINTS} points; take a larger step.", field="step")
        subject = request.query_params.get("subject", "")
        if len(subject) > 120 or "\0" in subject:
            raise access.Invalid("Must be a name of at most 120 characters.", field="subject")
        _same_workspace(request)
        points = services.series(caller_of(request).workspace_id, cache, window_s, step_s, subject)
        head = {"cache": cache, "subject": subject, "window_s": window_s, "step_s": step_s}
        return Response({**head, "points": points})


def _same_workspace(request: Request) -> None:
    """Refuse a workspace that the caller does not act in; it might as well not exist."""
    slug = request.query_params.get("workspace")
    if slug and not Workspace.objects.filter(pk=caller_of(request).workspace_id, slug=slug).exists():
        raise access.Missing("There is no such workspace here.")


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
    """Give the site's totals in Prometheus's format, to this machine or with METRICS_TOKEN; no names, no texts."""
    if not _may_scrape(request):
        response = problem_response(request, 401, "Scrape from this machine, or send METRICS_TOKEN as bearer token.")
        response["WWW-Authenticate"] = 'Bearer realm="touchstone"'
        return response
    return HttpResponse(exposition.render(), content_type=CONTENT_TYPE_LATEST)


def _may_scrape(request: HttpRequest) -> bool:
    """Believe the token where one is set; else only callers on this machine, for the totals span workspaces."""
    token = settings.METRICS_TOKEN
    if token:
        return compare_digest(request.META.get("HTTP_AUTHORIZATION", "").encode(), f"Bearer {token}".encode())
    return (
        request.META.get("REMOTE_ADDR", "") in {"127.0.0.1", "::1", ""} and "HTTP_X_FORWARDED_FOR" not in request.META
    )
