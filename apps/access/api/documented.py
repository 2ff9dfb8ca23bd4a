"""The problem details that every door of this API may answer with, for the schema."""

from typing import Any

from drf_spectacular.utils import OpenApiResponse
from rest_framework import serializers


class FieldProblem(serializers.Serializer[Any]):
    """One field that is not valid, and why."""

    field = serializers.CharField(allow_blank=True)
    message = serializers.CharField()


class Problem(serializers.Serializer[Any]):
    """Problem details (RFC 9457)."""

    type = serializers.CharField()
    title = serializers.CharField()
    status = serializers.IntegerField()
    detail = serializers.CharField()
    errors = FieldProblem(many=True)  # type: ignore[assignment]
    request_id = serializers.CharField()


def _problem(text: str) -> OpenApiResponse:
    return OpenApiResponse(Problem, description=text)


PROBLEMS: dict[tuple[int, str], OpenApiResponse] = {
    (status, "application/problem+json"): _problem(text)
    for status, text in {
        400: "Cannot be parsed.",
        401: "No key, or a bad one.",
        403: "The key lacks the scope.",
        404: "No such row in this workspace.",
        409: "The row is not in a state that allows this.",
        413: "Too large.",
        415: "A media type this door does not read.",
        422: "Understood but not valid.",
        429: "Too many requests; see Retry-After.",
        503: "A needed part is down; see Retry-After.",
    }.items()
}
