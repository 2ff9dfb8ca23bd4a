"""Take golden answers in: every row is checked, and either all of them are written or none."""

from __future__ import annotations

import hashlib
from collections import Counter
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field
from datetime import UTC, datetime
from itertools import islice
from typing import Any, TypeVar
from uuid import UUID

from django.db import transaction
from django.db.models import F

from apps.access import services as access
from apps.access.core.callers import SCOPES, Caller
from apps.answers.core import text
from apps.answers.models import GoldenAnswer, Namespace, bulk
from apps.answers.services import powers
from apps.answers.services.golden import drafts, publication, texts
from apps.answers.services.transfer.records import Fault, Faulty, Record

T = TypeVar("T")
BATCH = 500
MOST_FAULTS = 1_000
PUBLISH_AT_ONCE = 5_000
Status = GoldenAnswer.Status


@dataclass(slots=True)
class Report:
    """What an import did, or would do; with any fault it does nothing."""

    created: int = 0
    updated: int = 0
    unchanged: int = 0
    faults: list[Fault] = field(default_factory=list)
    more_faults: int = 0

    def add(self, faults: Iterable[Fault]) -> None:
        """Keep the first 1,000 faults and count the rest."""
        for fault in faults:
            if len(self.faults) < MOST_FAULTS:
                self.faults.append(fault)
            else:
                self.more_faults += 1


@dataclass(frozen=True, slots=True)
class Known:
    """A golden answer that a row of the file would change: its content as a digest, since there may be many."""

    pk: UUID
    content: bytes
    published: bool


@dataclass(slots=True)
class Change:
    """One row to write: a new golden answer, or one that is known."""

    row: int
    space: Namespace
    text: dict[str, Any]
    known: Known | None


class _Undo(Exception):
    """Rolls a dry or faulty import back."""


def import_rows(
    caller: Caller, records: Iterable[Record | Faulty], *, dry_run: bool = False, publish: bool = False
) -> Report:
    """Create or change one golden answer a row; a row is known by its namespace and its question.

    Everything happens in one transaction: a dry run and a file with any fault leave no trace. Absent fields keep what
    a known golden answer says. New and changed texts are drafts; with `publish` they are put in force at once, which
    is for owners.

    Raises:
        Invalid: `publish` asked by somebody who is not an owner, or for more than 5,000 changed rows.
    """
    if publish and not all(caller.may(scope) for scope in SCOPES):
        raise access.Invalid("Only owners (curator and operator at once) may publish an import.", field="publish")
    work = _Import(caller, publish, dry_run)
    try:
        with transaction.atomic():
            for batch in _batches(work.changes(records), BATCH):
                work.write(batch)
            work.close()
            if dry_run or work.report.faults:
                raise _Undo
    except _Undo:
        pass
    return work.report


class _Import:
    """One import: what is known, what was seen, what is to be written."""

    def __init__(self, caller: Caller, publish: bool, dry_run: bool) -> None:
        self.caller = caller
        self.publish = publish
        self.dry_run = dry_run
        self.report = Report()
        self.spaces: dict[str, Namespace | None] = {}
        self.known: dict[UUID, dict[bytes, Known]] = {}
        self.seen: dict[tuple[UUID, bytes], int] = {}
        self.counts: dict[UUID, Counter[str]] = {}
        self.published = 0

    def changes(self, records: Iterable[Record | Faulty]) -> Iterator[Change]:
        """Give the rows that are to be written, counting and checking all of them."""
        for record in records:
            if isinstance(record, Faulty):
                self.report.add(record.faults)
                continue
            change = self._change(record)
            if change is not None and not self.report.faults:
                yield change

    def write(self, batch: list[Change]) -> None:
        """Write one batch of changes, and put it in force where that was asked for."""
        if self.report.faults or (self.dry_run and not self.publish):
            return
        new = [change for change in batch if change.known is None]
        old = {change.known.pk: change for change in batch if change.known is not None}
        made, held = self._create(new), self._rewrite(old)
        if self.publish:
            changed = zip([*new, *(old[row.pk] for row in held)], [*made, *held], strict=True)
            self._put_in_force([(change.row, row) for change, row in changed])

    def close(self) -> None:
        """Leave one line of the audit log per namespace."""
        for space in self.spaces.values():
            if space is not None and self.counts.get(space.pk):
                access.record(self.caller, "imported into", space, published=self.publish, **self.counts[space.pk])

    def _change(self, record: Record) -> Change | None:
        name = record.values.get("namespace") or "default"
        space = self._space(name)
        if space is None:
            self._fault(record.row, "namespace", f"This workspace has no namespace {name[:80]!r}.")
            return None
        given = {key: value for key, value in record.values.items() if key in texts.TEXT}
        if faults := texts.problems({**drafts.EMPTY, **given}):
            self.report.add(Fault(record.row, field, message) for field, message in faults)
            return None
        digest = text.digest(given["question"])
        first = self.seen.setdefault((space.pk, digest), record.row)
        if first != record.row:
            self._fault(record.row, "question", f"Row {first} has the same question.")
            return None
        return self._counted(Change(record.row, space, given, self._known(space).get(digest)))

    def _counted(self, change: Change) -> Change | None:
        """Count a row; nothing is to be done for one that changes nothing."""
        known = change.known
        same = known is not None and _changes_nothing(change.text, known)
        word = "created" if known is None else "unchanged" if same else "updated"
        setattr(self.report, word, getattr(self.report, word) + 1)
        self.counts.setdefault(change.space.pk, Counter())[word] += 1
        done = same and (known is None or known.published or not self.publish)
        return None if done else change

    def _fault(self, row: int, name: str, message: str) -> None:
        self.report.add([Fault(row, name, message)])

    def _space(self, name: str) -> Namespace | None:
        if name not in self.spaces:
            readable = "\0" not in name and not text.SURROGATE.search(name)
            rows = Namespace.objects.filter(workspace_id=self.caller.workspace_id, name=name)
            found = self.spaces[name] = rows.first() if readable else None
            if found and not self.dry_run:
                publication.hold_namespace(found.pk)
        return self.spaces[name]

    def _known(self, space: Namespace) -> dict[bytes, Known]:
        """Read once what a namespace has, by question; of several with one question the one in force counts."""
        if space.pk not in self.known:
            in_force_last = F("in_force__created_at").asc(nulls_first=True)
            rows = GoldenAnswer.objects.filter(namespace=space).order_by(in_force_last, "pk")
            told = rows.values_list("pk", "status", *texts.TEXT).iterator(2_000)
            self.known[space.pk] = {
                text.digest(values[0]): Known(pk, b"".join(map(_digest, values)), status == Status.PUBLISHED)
                for pk, status, *values in told
            }
        return self.known[space.pk]

    def _create(self, new: list[Change]) -> list[GoldenAnswer]:
        """Write new drafts; gives them only where they are put in force, since writing in bulk tells no keys."""
        author = self.caller.name
        if not self.publish:
            bulk.insert_drafts({**change.text, "namespace_id": change.space.pk, "author": author} for change in new)
            return []
        return [GoldenAnswer.objects.create(namespace=item.space, author=author, **item.text) for item in new]

    def _rewrite(self, old: dict[UUID, Change]) -> list[GoldenAnswer]:
        """Write new texts into known golden answers; they are drafts then, and the caller is their author."""
        rows = GoldenAnswer.objects.select_for_update(of=("self",), no_key=True).select_related("namespace", "in_force")
        held = list(rows.filter(pk__in=old).order_by("pk"))
        for row in held:
            for name, value in old[row.pk].text.items():
                setattr(row, name, value)
            row.status, row.author, row.approver = Status.DRAFT, self.caller.name, ""
        bulk.rewrite_as_drafts({**texts.of(row), "id": row.pk, "author": row.author} for row in held)
        return held

    def _put_in_force(self, rows: list[tuple[int, GoldenAnswer]]) -> None:
        self.published += len(rows)
        if self.published > PUBLISH_AT_ONCE:
            raise access.Invalid(f"At most {PUBLISH_AT_ONCE} rows can be published at once; import in parts.")
        powers.vectors_of([phrase for _, row in rows for phrase in publication.phrases(row)])
        for number, row in rows:
            row.approver = self.caller.name
            try:
                publication.put_in_force(self.caller, row)
            except access.Conflict as problem:
                self._fault(number, "question", problem.detail)


def _digest(value: Any) -> bytes:
    """Digest one field to eight bytes, so that much content can be remembered and compared field by field."""
    shown = value.astimezone(UTC) if isinstance(value, datetime) else value
    return hashlib.blake2b(repr(shown).encode("utf-8", "surrogatepass"), digest_size=8).digest()


def _changes_nothing(values: dict[str, Any], known: Known) -> bool:
    """Compare the fields that a row gives with what is known."""
    places = {name: slice(8 * index, 8 * index + 8) for index, name in enumerate(texts.TEXT)}
    return all(known.content[places[name]] == _digest(value) for name, value in values.items())


def _batches(items: Iterable[T], size: int) -> Iterator[list[T]]:
    rest = iter(items)
    while batch := list(islice(rest, size)):
        yield batch
