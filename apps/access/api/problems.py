"""One error shape: problem details (RFC 9457)."""

import logging
from typing import Any

from django.core.exceptions import PermissionDenied
from django.core.exceptions import ValidationError as DjangoValidationError
from django.db import InterfaceError, OperationalError
from django.http import Http404, HttpRequest, JsonResponse
from redis.exceptions import ConnectionError as ValkeyDown
from rest_framework import exceptions
from rest_framework.response import Response

from apps.access.services.errors import ProblemError

log = logging.getLogger(__name__)
CONTENT_TYPE = "application/problem+json"
TITLES = {
    400: "Bad request",
    401: "Not authenticated",
    403: "Not allowed",
    404: "Not found",
    405: "Method not allowed",
    406: "Not acceptable",
    409: "Conflict",
    413: "Too large",
    415: "Unsupported media type",
    422: "Not valid",
    429: "Too many requests",
    500: "Internal error",
    503: "Unavailable",
}


def body(
    status: int, detail: str, request_id: str, errors: list[tuple[str, str]] | None = None, title: str = ""
) -> dict[str, Any]:
    """Build the members of a problem."""
    return {
        "type": "about:blank",
        "title": title or TITLES.get(status, "Error"),
        "status": status,
        "detail": detail,
        "errors": [{"field": field, "message": message} for field, message in errors or []],
        "request_id": request_id,
    }


def problem_response(
    request: HttpRequest,
    status: int,
    detail: str,
    *,
    errors: list[tuple[str, str]] | None = None,
    retry_after_s: int | None = None,
) -> JsonResponse:
    """Answer with a problem outside Django REST framework."""
    response = JsonResponse(body(status, detail, request_id(request), errors), status=status, content_type=CONTENT_TYPE)
    if retry_after_s is not None:
        response["Retry-After"] = str(retry_after_s)
    return response


def request_id(request: Any) -> str:
    """Give the id that the middleware put on the request."""
    return str(getattr(getattr(request, "_request", request), "request_id", ""))


def problem(exc: Exception, context: dict[str, Any]) -> Response | None:
    """Handle every exception of every API view; the unknown ones become a logged 500."""
    status, detail, errors, headers = _read(exc)
    if status >= 500:
        log.error("%s on %s", status, context["request"].path, exc_info=exc)
    request = context["request"]
    response = Response(body(status, detail, request_id(request), errors), status=status, headers=headers)
    response.content_type = CONTENT_TYPE
    response.exception = True
    return response


def _read(exc: Exception) -> tuple[int, str, list[tuple[str, str]], dict[str, str]]:
    """Find status, detail, field errors and headers of an exception."""
    if isinstance(exc, ProblemError):
        return exc.status, exc.detail, exc.errors, _retry(exc.retry_after_s)
    if isinstance(exc, exceptions.ValidationError):
        errors = list(_flat(exc.detail))
        return 422, errors[0][1] if len(errors) == 1 else "Some fields are not valid.", errors, {}
    if isinstance(exc, exceptions.APIException):
        wait = getattr(exc, "wait", None)
        headers = _retry(int(wait) if wait else None)
        if auth_header := getattr(exc, "auth_header", None):
            headers["WWW-Authenticate"] = auth_header
        return exc.status_code, str(exc.detail), [], headers
    if isinstance(exc, Http404):
        return 404, "No such row in this workspace.", [], {}
    if isinstance(exc, RecursionError):
        return 400, "The body is nested too deeply.", [], {}
    if isinstance(exc, PermissionDenied):
        return 403, str(exc) or "Not allowed.", [], {}
    if isinstance(exc, DjangoValidationError):
        return 422, "Some fields are not valid.", [("", message) for message in exc.messages], {}
    if isinstance(exc, OperationalError | InterfaceError | ValkeyDown):
        return 503, "A needed part is down; try again shortly.", [], _retry(2)
    return 500, "Something went wrong here; the request id helps to find it.", [], {}


def _retry(seconds: int | None) -> dict[str, str]:
    return {} if seconds is None else {"Retry-After": str(seconds)}


def _flat(detail: Any, path: str = "") -> Any:
    """Flatten the nested messages of a serializer into (dotted field, message) pairs."""
    if isinstance(detail, dict):
        for key, value in detail.items():
            name = "" if key == "non_field_errors" else str(key)
            yield from _flat(value, ".".join(part for part in (path, name) if part))
    elif isinstance(detail, list):
        for index, value in enumerate(detail):
            nested = isinstance(value, dict | list)
            yield from _flat(value, f"{path}.{index}" if nested and path else str(index) if nested else path)
    else:
        yield path, str(detail)
