"""Typed environment readers that fail loudly; a secret may also come from the file named by NAME_FILE."""

import os
from pathlib import Path
from typing import Any
from urllib.parse import parse_qs, unquote, urlsplit

TRUE = {"1", "true", "yes", "on"}
FALSE = {"0", "false", "no", "off", ""}


class EnvironmentProblem(Exception):
    """A variable is missing or cannot be read as what it should be; the message names it."""


def text(name: str, default: str | None = None) -> str:
    """Read a string, from NAME or from the file NAME_FILE points at.

    Raises:
        EnvironmentProblem: neither is set and there is no default, or the file cannot be read.
    """
    if name in os.environ:
        return os.environ[name]
    if path := os.environ.get(f"{name}_FILE"):
        return _file(name, path)
    if default is None:
        raise EnvironmentProblem(f"{name} is not set")
    return default


def integer(name: str, default: int) -> int:
    """Read a whole number."""
    value = text(name, str(default))
    try:
        return int(value)
    except ValueError:
        raise EnvironmentProblem(f"{name} must be a whole number, not {value!r}") from None


def number(name: str, default: float) -> float:
    """Read a decimal number."""
    value = text(name, str(default))
    try:
        return float(value)
    except ValueError:
        raise EnvironmentProblem(f"{name} must be a number, not {value!r}") from None


def flag(name: str, default: bool = False) -> bool:
    """Read yes or no, in the usual spellings."""
    value = text(name, str(default)).strip().lower()
    if value in TRUE:
        return True
    if value in FALSE:
        return False
    raise EnvironmentProblem(f"{name} must be true or false, not {value!r}")


def names(name: str, default: str = "") -> list[str]:
    """Read a comma-separated list."""
    return [part.strip() for part in text(name, default).split(",") if part.strip()]


def database(url: str) -> dict[str, Any]:
    """Turn postgres://user:password@host:port/name?host=/socket/folder into Django's connection settings."""
    parts = urlsplit(url)
    if parts.scheme not in {"postgres", "postgresql"} or not parts.path.strip("/"):
        raise EnvironmentProblem("DATABASE_URL must look like postgres://user@host:port/name")
    options = {key: values[-1] for key, values in parse_qs(parts.query).items()}
    return {
        "ENGINE": "django.db.backends.postgresql",
        "NAME": unquote(parts.path.strip("/")),
        "USER": unquote(parts.username or ""),
        "PASSWORD": unquote(parts.password or ""),
        "HOST": options.pop("host", parts.hostname or ""),
        "PORT": options.pop("port", str(parts.port or "")),
        "OPTIONS": options,
    }


def _file(name: str, path: str) -> str:
    try:
        return Path(path).read_text().strip()
    except OSError as problem:
        raise EnvironmentProblem(f"{name}_FILE cannot be read: {problem}") from problem
