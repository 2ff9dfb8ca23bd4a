"""Pages for what no view answers: problem details on the API, plain pages elsewhere."""

from django.http import HttpRequest, HttpResponse
from django.views import defaults

from apps.access.api.problems import problem_response

API = ("/api/", "/v1/", "/healthz", "/readyz", "/metrics")


def not_found(request: HttpRequest, exception: Exception) -> HttpResponse:
    """Answer 404 in the door's own shape."""
    if request.path_info.startswith(API):
        return problem_response(request, 404, "There is nothing at this path.")
    return defaults.page_not_found(request, exception)


def broken(request: HttpRequest) -> HttpResponse:
    """Answer 500 in the door's own shape."""
    if request.path_info.startswith(API):
        return problem_response(request, 500, "Something went wrong here; the request id helps to find it.")
    return defaults.server_error(request)
