"""What a golden answer said before, what points at it, and what is due."""

from __future__ import annotations

import difflib
from dataclasses import dataclass
from datetime import timedelta
from typing import Any

from django.db.models import QuerySet
from django.db.models.functions import Now
from django.utils import timezone

from apps.access.core.callers import Caller
from apps.answers.models import Entry, GoldenAnswer, GoldenVersion
from apps.answers.models.golden import GoldenText
from apps.answers.services.golden import texts


@dataclass(frozen=True, slots=True)
class Change:
    """What one field said before and after; `lines` is a unified diff without its header."""

    field: str
    before: str
    after: str
    lines: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class Edition:
    """One published version and what it changed against the one before."""

    version: GoldenVersion
    changes: tuple[Change, ...]


def versions(row: GoldenAnswer) -> list[Edition]:
    """List a golden answer's versions, newest first."""
    rows = list(row.versions.order_by("-number"))
    before: list[GoldenVersion | None] = [*rows, None][1:]
    return [Edition(version, changes(old, version)) for version, old in zip(rows, before, strict=True)]


def changes(before: GoldenVersion | None, after: GoldenText) -> tuple[Change, ...]:
    """Compare two texts field by field; without an earlier one there are no changes."""
    if before is None:
        return ()
    pairs = ((name, _lines(getattr(before, name)), _lines(getattr(after, name))) for name in texts.TEXT)
    return tuple(
        Change(name, "\n".join(old), "\n".join(new), tuple(difflib.unified_diff(old, new, lineterm="", n=3))[2:])
        for name, old, new in pairs
        if old != new
    )


def promotions(row: GoldenAnswer) -> QuerySet[Entry]:
    """Give the entries that point at a golden answer."""
    return Entry.objects.filter(golden=row).select_related("namespace")


def due_for_review(caller: Caller, days: int = 0) -> QuerySet[GoldenAnswer]:
    """Give published answers whose review-by date has come, or comes within some days; the earliest first."""
    until = timezone.now().date() + timedelta(days=days)
    return _in_force(caller).filter(review_by__lte=until).order_by("review_by", "pk")


def expiring(caller: Caller, days: int) -> QuerySet[GoldenAnswer]:
    """Give answers in force that stop being valid within some days, by the database's clock; the earliest first."""
    window = {"in_force__valid_until__gt": Now(), "in_force__valid_until__lte": Now() + timedelta(days=days)}
    return _in_force(caller).filter(**window).order_by("in_force__valid_until", "pk")


def expired(caller: Caller) -> QuerySet[GoldenAnswer]:
    """Give answers still in force whose validity has ended, so that nobody is served them; the latest first."""
    return _in_force(caller).filter(in_force__valid_until__lte=Now()).order_by("-in_force__valid_until", "pk")


def _in_force(caller: Caller) -> QuerySet[GoldenAnswer]:
    rows = GoldenAnswer.objects.filter(namespace__workspace_id=caller.workspace_id, in_force__isnull=False)
    return rows.select_related("namespace", "in_force", "owner")


def _lines(value: Any) -> list[str]:
    if value is None:
        return []
    if isinstance(value, list):
        return [str(item) for item in value]
    return value.splitlines() if isinstance(value, str) else [value.isoformat()]
