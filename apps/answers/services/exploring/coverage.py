"""How well the golden tier covers what is asked, tag by tag, and which answers end or are due when."""

from __future__ import annotations

from collections import Counter, defaultdict
from dataclasses import dataclass, field
from datetime import UTC, date, datetime, timedelta
from uuid import UUID

from django.db.models import Count
from django.db.models.functions import Now

from apps.answers.models import GoldenAnswer, Namespace, Query

DAYS = 30
MOST_ANSWERS = 5_000
MONTHS_AHEAD = 12


@dataclass(slots=True)
class Tag:
    """One tag: its published answers, how often they were served in 30 days, how many of them never were."""

    name: str
    answers: int = 0
    served: int = 0
    unserved: int = 0


@dataclass(frozen=True, slots=True)
class Date:
    """A day on which something happens to an answer: it `begins`, `ends`, or is `due` for a review."""

    day: date
    what: str
    golden: GoldenAnswer


@dataclass(slots=True)
class Coverage:
    """The tags of a namespace, most served first; answers without a tag stand under the empty name."""

    tags: list[Tag] = field(default_factory=list)
    served: int = 0
    dates: list[Date] = field(default_factory=list)
    capped: bool = False


def coverage(namespace: Namespace) -> Coverage:
    """Measure up to 5,000 published answers over the last 30 days, and list the dates of the next year."""
    rows = GoldenAnswer.objects.filter(namespace=namespace, status=GoldenAnswer.Status.PUBLISHED)
    found = list(rows.select_related("in_force").order_by("-pk")[: MOST_ANSWERS + 1])
    answers, capped = found[:MOST_ANSWERS], len(found) > MOST_ANSWERS
    counts = _served(namespace)
    tags: dict[str, Tag] = defaultdict(lambda: Tag(""))
    for row in answers:
        for name in row.tags or [""]:
            tag = tags[name]
            tag.name, tag.answers = name, tag.answers + 1
            tag.served += counts[row.pk]
            tag.unserved += not counts[row.pk]
    ordered = sorted(tags.values(), key=lambda tag: (-tag.served, tag.name))
    return Coverage(ordered, sum(counts[row.pk] for row in answers), _dates(answers), capped)


def _served(namespace: Namespace) -> Counter[UUID]:
    rows = Query.objects.filter(
        namespace=namespace, golden_id__isnull=False, created_at__gt=Now() - timedelta(days=DAYS)
    )
    return Counter(dict(rows.values_list("golden_id").annotate(served=Count("id"))))


def _dates(answers: list[GoldenAnswer]) -> list[Date]:
    today = datetime.now(UTC).date()
    last = today + timedelta(days=31 * MONTHS_AHEAD)
    dates = [date_ for row in answers for date_ in _of(row)]
    return sorted((each for each in dates if today <= each.day <= last), key=lambda each: each.day)


def _of(row: GoldenAnswer) -> list[Date]:
    moments = (("begins", row.valid_from), ("ends", row.valid_until))
    found = [Date(moment.date(), what, row) for what, moment in moments if moment]
    return [*found, Date(row.review_by, "due", row)] if row.review_by else found
