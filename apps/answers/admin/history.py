"""What is known of one golden answer: rivals, versions with their differences, and who was served it."""

from __future__ import annotations

import logging
from dataclasses import dataclass
from typing import Any

from django.urls import reverse
from django.utils.safestring import SafeString

from apps.access import services as access
from apps.answers.admin.diffs import merged
from apps.answers.models import GoldenAnswer, GoldenVersion
from apps.answers.models.served import MOST, served_and_promoted
from apps.answers.services import golden
from apps.answers.services.golden import Change, Rival

log = logging.getLogger(__name__)
SHOWN_VERSIONS = 20


@dataclass(frozen=True, slots=True)
class Difference:
    """One field's difference, ready to show."""

    field: str
    text: SafeString


@dataclass(frozen=True, slots=True)
class Edition:
    """One version, who wrote and approved it, what it changed, and where to see who was served it."""

    version: GoldenVersion
    author: str
    approver: str
    differences: list[Difference]
    served: str


def panels(row: GoldenAnswer) -> dict[str, Any]:
    """Collect everything that the page of a golden answer shows beside its form."""
    rivals, looked = _rivals(row)
    counts = served_and_promoted([row.pk])[row.pk]
    pending = golden.changes(row.in_force, row) if row.in_force and row.status != "published" else ()
    return {
        "rivals": rivals,
        "looked": looked,
        "pending": _differences(pending),
        "editions": _editions(row),
        "served_count": counts[0],
        "promoted_count": counts[1],
        "most": MOST,
        "served_link": _served(row),
        "promotions_link": reverse("admin:answers_entry_changelist") + f"?golden__id__exact={row.pk}",
        "author_name": access.names([row.author]).get(row.author, row.author),
    }


def _rivals(row: GoldenAnswer) -> tuple[list[Rival], bool]:
    """Look for what stands too close; a page must open without the embedder too."""
    try:
        return golden.conflicts(row), True
    except access.Unavailable:
        log.warning("conflicts of %s could not be looked for", row.pk)
        return [], False


def _editions(row: GoldenAnswer) -> list[Edition]:
    known = golden.versions(row)[:SHOWN_VERSIONS]
    told = access.names(name for each in known for name in (each.version.author, each.version.approver))
    return [
        Edition(
            each.version,
            told.get(each.version.author, each.version.author),
            told.get(each.version.approver, each.version.approver),
            _differences(each.changes),
            _served(row, each.version.number),
        )
        for each in known
    ]


def _differences(changes: tuple[Change, ...]) -> list[Difference]:
    return [Difference(change.field.replace("_", " "), merged(change.before, change.after)) for change in changes]


def _served(row: GoldenAnswer, version: int | None = None) -> str:
    query = f"?golden_id__exact={row.pk}" + (f"&golden_version__exact={version}" if version else "")
    return reverse("admin:answers_query_changelist") + query
