"""Lists and times in a CSV cell: a list is written `a|b`, or as a JSON array where that would be ambiguous."""

from __future__ import annotations

import json
from collections.abc import Sequence
from datetime import UTC, date, datetime, time

from django.utils.dateparse import parse_date, parse_datetime


def join(items: Sequence[str]) -> str:
    """Write a list as one cell."""
    plain = all(item and item == item.strip() and "|" not in item for item in items)
    if plain and not (items and items[0].startswith("[")):
        return "|".join(items)
    return json.dumps(list(items), ensure_ascii=False)


def split(cell: str) -> list[str]:
    """Read a list from one cell: a JSON array of strings, or words separated by `|`.

    Raises:
        ValueError: it begins like a JSON array and is none of strings.
    """
    if not cell.strip():
        return []
    if not cell.lstrip().startswith("["):
        return [item.strip() for item in cell.split("|") if item.strip()]
    try:
        items = json.loads(cell)
    except ValueError:
        items = None
    if not isinstance(items, list) or not all(isinstance(item, str) for item in items):
        raise ValueError("Must be words separated by | or a JSON array of strings.")
    return items


def moment(cell: str) -> datetime | None:
    """Read a time in ISO 8601; a day is its midnight, and a time without a zone is in UTC.

    Raises:
        ValueError: it is no time.
    """
    if not cell.strip():
        return None
    try:
        found: datetime | date | None = parse_datetime(cell.strip()) or parse_date(cell.strip())
        if found is not None and not isinstance(found, datetime):
            found = datetime.combine(found, time())
    except ValueError:
        found = None
    if found is None:
        raise ValueError("Must be a time like 2030-01-31T12:00:00Z.")
    try:
        return found.astimezone(UTC) if found.tzinfo else found.replace(tzinfo=UTC)
    except OverflowError as problem:
        raise ValueError("This time is out of range.") from problem
