"""Who calls: a bearer key, or a person signed in to the console."""

from typing import TYPE_CHECKING, cast

from django.http import HttpRequest
from rest_framework.authentication import BaseAuthentication, SessionAuthentication
from rest_framework.exceptions import AuthenticationFailed
from rest_framework.permissions import BasePermission
from rest_framework.request import Request

from apps.access import services
from apps.access.core.callers import Caller
from apps.access.models import User, Workspace

if TYPE_CHECKING:
    from rest_framework.views import APIView


class KeyAuthentication(BaseAuthentication):
    """`Authorization: Bearer <key>`; counts the request against the key's rate limit."""

    def authenticate(self, request: Request) -> tuple[Caller, None] | None:
        """Recognise the key, or leave the request to the next authentication when there is none."""
        header = request.META.get("HTTP_AUTHORIZATION", "")
        if not header:
            return None
        scheme, _, secret = header.partition(" ")
        caller = services.recognise(secret.strip()) if scheme.lower() == "bearer" else None
        if caller is None:
            raise AuthenticationFailed("This key is not known, has expired or was revoked.")
        services.spend(caller)
        return caller, None

    def authenticate_header(self, request: Request) -> str:
        """Name the scheme, so that a missing key is a 401."""
        return 'Bearer realm="touchstone"'


class ConsoleAuthentication(SessionAuthentication):
    """A signed-in person, acting in the workspace chosen in the console (`?workspace=slug` wins)."""

    def authenticate(self, request: Request) -> tuple[Caller, None] | None:
        """Turn the session's user into a caller; CSRF is enforced."""
        session_user = getattr(request._request, "user", None)
        if not isinstance(session_user, User) or super().authenticate(request) is None:
            return None
        workspace = chosen_workspace(request._request, session_user)
        caller = services.caller_for_user(session_user, workspace) if workspace else None
        return (caller, None) if caller else None


def chosen_workspace(request: HttpRequest, user: User) -> Workspace | None:
    """Give the workspace a person works in: the one asked for, the one chosen before, or the first."""
    open_to_user = services.workspaces_of(user)
    wanted = request.GET.get("workspace") or request.session.get("workspace")
    return next((row for row in open_to_user if row.slug == wanted), open_to_user[0] if open_to_user else None)


class HasScope(BasePermission):
    """Demand the scope a view names in `scope`, or per method in `method_scopes`; `client` otherwise."""

    def has_permission(self, request: Request, view: "APIView") -> bool:
        """Say whether the caller holds the scope of this view and method."""
        if not isinstance(request.user, Caller):
            return False
        scopes = getattr(view, "method_scopes", {})
        return request.user.may(scopes.get(request.method, getattr(view, "scope", "client")))


def caller_of(request: Request) -> Caller:
    """Give the caller that authentication left on the request."""
    return cast(Caller, request.user)
