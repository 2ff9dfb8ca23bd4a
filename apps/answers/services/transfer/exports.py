"""Write golden answers as CSV or JSON lines, a page of rows at a time, so that any number of them takes no memory."""

from __future__ import annotations

import csv
import io
import json
from collections.abc import Callable, Iterable, Iterator
from typing import Any
from uuid import UUID

from apps.access.core.callers import Caller
from apps.access.core.cells import guard
from apps.answers.models import GoldenAnswer
from apps.answers.services.transfer import cells
from apps.answers.services.transfer.records import FIELDS, LISTS

PAGE = 1_000


def export(caller: Caller, kind: str, *, namespace: str | None = None, status: str | None = None) -> Iterator[str]:
    """Write the workspace's golden answers, oldest first, in parts of about 1,000 rows.

    Args:
        caller: a curator.
        kind: `csv` or `jsonl`.
        namespace: only of this namespace.
        status: only of this status; all but the retired when none is named.
    """
    conditions: dict[str, Any] = {"namespace__workspace_id": caller.workspace_id}
    if namespace:
        conditions["namespace__name"] = namespace
    if status:
        conditions["status"] = status
    return FORMATS[kind](_pages(conditions))


def _pages(conditions: dict[str, Any]) -> Iterator[list[GoldenAnswer]]:
    """Read page after page by key: no page waits for a client while a transaction stays open."""
    last: UUID | None = None
    while True:
        rows = GoldenAnswer.objects.filter(**conditions).select_related("namespace").order_by("pk")
        if "status" not in conditions:
            rows = rows.exclude(status=GoldenAnswer.Status.RETIRED)
        if last is not None:
            rows = rows.filter(pk__gt=last)
        page = list(rows[:PAGE])
        if page:
            yield page
        if len(page) < PAGE:
            return
        last = page[-1].pk


def _csv(pages: Iterable[list[GoldenAnswer]]) -> Iterator[str]:
    yield ",".join(FIELDS) + "\r\n"
    for page in pages:
        part = io.StringIO(newline="")
        csv.writer(part).writerows([[guard(_cell(row, name)) for name in FIELDS] for row in page])
        yield part.getvalue()


def _jsonl(pages: Iterable[list[GoldenAnswer]]) -> Iterator[str]:
    for page in pages:
        rows = ({name: _value(row, name) for name in FIELDS} for row in page)
        yield "".join(json.dumps(row, ensure_ascii=False) + "\n" for row in rows)


def _value(row: GoldenAnswer, name: str) -> Any:
    if name == "namespace":
        return row.namespace.name
    value = getattr(row, name)
    return value.isoformat() if hasattr(value, "isoformat") else value


def _cell(row: GoldenAnswer, name: str) -> str:
    value = _value(row, name)
    return cells.join(value) if name in LISTS else value or ""


FORMATS: dict[str, Callable[[Iterable[list[GoldenAnswer]]], Iterator[str]]] = {"csv": _csv, "jsonl": _jsonl}
