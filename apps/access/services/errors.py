"""The one error class of the house, with the status each kind of trouble has at the door."""

from __future__ import annotations

from collections.abc import Sequence


class ProblemError(Exception):
    """Something the caller can be told, in the shape of RFC 9457."""

    status = 400
    title = "Bad request"

    def __init__(
        self,
        detail: str,
        *,
        field: str | None = None,
        errors: Sequence[tuple[str, str]] = (),
        retry_after_s: int | None = None,
    ) -> None:
        super().__init__(detail)
        self.detail = detail
        self.errors = list(errors) or ([(field, detail)] if field else [])
        self.retry_after_s = retry_after_s


class Unparsable(ProblemError):
    """400: the body cannot be read."""


class Missing(ProblemError):
    """404: no such row in this workspace."""

    status = 404
    title = "Not found"


class Conflict(ProblemError):
    """409: the row is not in a state that allows this."""

    status = 409
    title = "Conflict"


class TooLarge(ProblemError):
    """413: more than this door takes."""

    status = 413
    title = "Too large"


class WrongKind(ProblemError):
    """415: a media type this door does not read."""

    status = 415
    title = "Unsupported media type"


class Invalid(ProblemError):
    """422: understood but not valid."""

    status = 422
    title = "Not valid"


class Limited(ProblemError):
    """429: too many requests; says when to come back."""

    status = 429
    title = "Too many requests"


class Unavailable(ProblemError):
    """503: a needed part is down; says when to try again."""

    status = 503
    title = "Unavailable"
