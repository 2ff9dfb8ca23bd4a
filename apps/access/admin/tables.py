"""Any list of the console as a CSV file: the columns that are shown, the rows that are filtered for, texts in full."""

from __future__ import annotations

import csv
import io
from collections.abc import Iterator
from datetime import date, time
from itertools import islice
from typing import Any

from django.contrib.admin.utils import label_for_field, lookup_field
from django.core.exceptions import ObjectDoesNotExist
from django.http import HttpRequest, StreamingHttpResponse
from django.utils import timezone
from django.utils.html import strip_tags

from apps.access.core.cells import guard

MOST = 100_000
PAGE = 500
CHECKBOX = "action_checkbox"


class Shortened(str):
    """A text cut for a column; `whole` is all of it."""

    __slots__ = ("whole",)
    whole: str


def short(value: str, most: int = 90) -> Shortened:
    """Shorten a text for a column."""
    line = " ".join(value.split())
    cut = Shortened(line if len(line) <= most else line[: most - 1] + "…")
    cut.whole = value
    return cut


def download(request: HttpRequest, desk: Any) -> StreamingHttpResponse:
    """Answer with a list's rows, at most 100,000, as a file named after them and today."""
    response = StreamingHttpResponse(_parts(request, desk), content_type="text/csv; charset=utf-8")
    name = f"{desk.opts.verbose_name_plural}-{timezone.localdate():%Y-%m-%d}".replace(" ", "-").lower()
    response["Content-Disposition"] = f'attachment; filename="{name}.csv"'
    return response


def _parts(request: HttpRequest, desk: Any) -> Iterator[str]:
    shown = desk.get_changelist_instance(request)
    columns = [name for name in shown.list_display if name != CHECKBOX]
    yield _lines([[str(label_for_field(name, desk.model, desk)) for name in columns]])
    found = shown.queryset[:MOST].iterator(chunk_size=PAGE)
    while rows := list(islice(found, PAGE)):
        desk.complete(request, rows)
        yield _lines([[guard(_cell(name, row, desk)) for name in columns] for row in rows])


def _lines(rows: list[list[str]]) -> str:
    part = io.StringIO(newline="")
    csv.writer(part).writerows(rows)
    return part.getvalue()


def _cell(name: str, row: Any, desk: Any) -> str:
    """Write what a column shows as text: times in ISO 8601, choices by their names, shortened texts in full."""
    try:
        field, _attribute, value = lookup_field(name, row, desk)
    except ObjectDoesNotExist:
        return ""
    if field is not None and getattr(field, "flatchoices", None):
        value = dict(field.flatchoices).get(value, value)
    if isinstance(value, tuple | list):
        value = value[-1] if value else ""
    if isinstance(value, Shortened):
        return value.whole
    if value is None or value == "–":
        return ""
    return value.isoformat() if isinstance(value, date | time) else strip_tags(str(value))
