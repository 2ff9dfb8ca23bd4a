"""Keep the dynamic tier in shape: count its hits, let it expire, keep it within its size, purge what must go."""

from __future__ import annotations

import logging
from collections.abc import Callable, Mapping
from datetime import datetime, timedelta
from typing import Any
from uuid import UUID

from django.db import connection, transaction
from django.db.models import Count, Q

from apps.access import services as access
from apps.access.core.callers import Caller
from apps.access.models import Workspace
from apps.answers.core.policy import Policy
from apps.answers.models import Entry, Namespace, Watermark
from apps.answers.models.entries import Entries
from apps.answers.services import indexing

log = logging.getLogger(__name__)
HITS = "hits"
# A row of the query log may become visible a moment after its time of birth; nothing this old still comes.
LAG = timedelta(seconds=30)
BATCH = 5_000
MOST_BATCHES = 200

FOLD = """
WITH served AS (
    SELECT entry_id, count(*) AS hits, max(created_at) AS at FROM answers_query
    WHERE id >= %(since)s AND id < %(until)s AND entry_id IS NOT NULL GROUP BY entry_id
), held AS (
    SELECT e.id FROM answers_entry e JOIN served s ON s.entry_id = e.id ORDER BY e.id FOR NO KEY UPDATE OF e
)
UPDATE answers_entry e SET hits = e.hits + s.hits, last_hit_at = GREATEST(e.last_hit_at, s.at)
FROM served s JOIN held h ON h.id = s.entry_id WHERE e.id = s.entry_id
"""

EXPIRE = """
DELETE FROM answers_entry WHERE id IN (
    SELECT id FROM answers_entry WHERE expires_at <= now() ORDER BY expires_at LIMIT %s FOR UPDATE SKIP LOCKED)
"""

RETRACT_ENDED = """
DELETE FROM answers_entry WHERE id IN (
    SELECT e.id FROM answers_entry e JOIN answers_goldenanswer g ON g.id = e.golden_id
    LEFT JOIN answers_goldenversion v ON v.id = g.in_force_id
    WHERE v.id IS NULL OR v.valid_until <= now() LIMIT %s FOR UPDATE OF e SKIP LOCKED)
"""

EVICT = """
DELETE FROM answers_entry WHERE id IN (
    SELECT id FROM answers_entry WHERE namespace_id = %s
    ORDER BY (origin = 'golden'), GREATEST(last_hit_at, written_at), id LIMIT %s FOR UPDATE SKIP LOCKED)
"""


def sweep() -> dict[str, int]:
    """Do all of it, as the clock asks every few seconds; a step that fails is logged and the others go on."""
    steps: tuple[Callable[[], int], ...] = (fold_hits, expire, retract_ended, evict, indexing.tend_aside)
    return {step.__name__: _guarded(step) for step in steps}


def _guarded(step: Callable[[], int]) -> int:
    try:
        return step()
    except Exception:  # whatever fails, the next sweep tries it again
        log.exception("upkeep: %s failed", step.__name__)
        return 0


@transaction.atomic
def fold_hits() -> int:
    """Add what the query log tells of hits since the last fold to their entries; returns how many entries were hit.

    Every stretch of the log is folded once: the watermark moves in the same transaction.
    """
    beginning = datetime.fromisoformat("2000-01-01T00:00:00+00:00")
    mark, _ = Watermark.objects.select_for_update().get_or_create(name=HITS, defaults={"until": beginning})
    until = _database_time() - LAG
    if until <= mark.until:
        return 0
    with connection.cursor() as cursor:
        cursor.execute(FOLD, {"since": _first_id(mark.until), "until": _first_id(until)})
        hit = int(cursor.rowcount)
    mark.until = until
    mark.save()
    return hit


def expire() -> int:
    """Delete entries whose time is over by the database's clock; returns how many."""
    return _in_batches(EXPIRE, [BATCH])


def retract_ended() -> int:
    """Delete promotions whose golden answer is no longer valid; returns how many."""
    return _in_batches(RETRACT_ENDED, [BATCH])


def evict() -> int:
    """Bring every namespace down to its `max_entries`, the least recently used first and promotions last of all."""
    crowded = Namespace.objects.annotate(count=Count("entries")).filter(count__gt=0)
    over = {row.pk: row.count - Policy.from_mapping(row.policy).max_entries for row in crowded}
    return sum(_evict_from(pk, excess) for pk, excess in over.items() if excess > 0)


def purge(caller: Caller, wanted: Mapping[str, Any]) -> int:
    """Delete the entries of this workspace that match everything asked for; returns how many.

    Args:
        caller: an operator.
        wanted: some of `ids`, `namespace`, `golden`, `version`, `client` (who filled it: a key's name or id),
            `origin`, `q` (words of the question), `created_after` and `created_before` (a half-open range).

    Raises:
        Invalid: nothing is asked for, which would purge everything.
    """
    asked = {name: value for name, value in wanted.items() if value not in (None, "", [])}
    if not asked:
        raise access.Invalid("Say what to purge: an empty filter would purge everything.")
    with transaction.atomic():
        count, _ = matching(caller, asked).held().delete()
        shown = {name: str(value)[:500] for name, value in asked.items()}
        access.record(caller, "purged entries of", Workspace(pk=caller.workspace_id), count=count, filter=shown)
    return count


@transaction.atomic
def remove(caller: Caller, pk: UUID) -> None:
    """Delete one entry.

    Raises:
        Missing: this workspace has no such entry.
    """
    row = matching(caller, {"ids": [pk]}).select_related("namespace").first()
    if row is None or not matching(caller, {"ids": [pk]}).held().delete()[0]:
        raise access.Missing("This workspace has no such entry.")
    access.record(caller, "deleted", row, question=row.question[:200])


def matching(caller: Caller, wanted: Mapping[str, Any]) -> Entries:
    """Give the workspace's entries that match every condition; see `purge` for their names."""
    conditions = [_condition(name, value) for name, value in wanted.items()]
    rows: Entries = Entry.objects.filter(Q(namespace__workspace_id=caller.workspace_id), *conditions)
    return rows


def _condition(name: str, value: Any) -> Q:
    if name == "client":
        return Q(by__in=[value, f"key:{value}", f"user:{value}"])
    return Q(**{CONDITIONS[name]: value})


CONDITIONS = {
    "ids": "pk__in",
    "namespace": "namespace__name",
    "golden": "golden_id",
    "version": "golden_version",
    "origin": "origin",
    "q": "question__icontains",
    "created_after": "created_at__gte",
    "created_before": "created_at__lt",
}


def _first_id(moment: datetime) -> UUID:
    """Give the smallest id of a moment: version 7 UUIDs sort by time, so a stretch of time is one of primary keys."""
    return UUID(int=int(moment.timestamp() * 1000) << 80)


def _evict_from(namespace_id: UUID, excess: int) -> int:
    gone = 0
    while gone < excess:
        taken = _execute(EVICT, [namespace_id, min(BATCH, excess - gone)])
        if not taken:
            break
        gone += taken
    return gone


def _in_batches(statement: str, values: list[Any]) -> int:
    gone = 0
    for _ in range(MOST_BATCHES):
        taken = _execute(statement, values)
        gone += taken
        if taken < BATCH:
            break
    return gone


def _execute(statement: str, values: list[Any]) -> int:
    with connection.cursor() as cursor:
        cursor.execute(statement, values)
        return int(cursor.rowcount)


def _database_time() -> datetime:
    with connection.cursor() as cursor:
        cursor.execute("SELECT clock_timestamp()")
        return datetime.fromisoformat(str(cursor.fetchone()[0]))
