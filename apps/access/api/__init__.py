"""What every API door shares: authentication, scopes, pages, problem details and idempotency."""

from apps.access.api.authentication import ConsoleAuthentication, HasScope, KeyAuthentication, caller_of
from apps.access.api.idempotency import Idempotent
from apps.access.api.pages import Cursor
from apps.access.api.problems import problem, problem_response

__all__ = [
    "ConsoleAuthentication",
    "Cursor",
    "HasScope",
    "Idempotent",
    "KeyAuthentication",
    "caller_of",
    "problem",
    "problem_response",
]
