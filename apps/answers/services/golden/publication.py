"""Put a text in force, or take it out: version, searched questions and promotions change in one transaction."""

from __future__ import annotations

from uuid import UUID

from django.db import transaction
from django.db.models import Max, Q
from django.db.models.functions import Now
from django.utils import timezone

from apps.access import services as access
from apps.access.core.callers import Caller
from apps.answers.core import text
from apps.answers.models import Entry, GoldenAnswer, GoldenQuestion, GoldenVersion, Namespace
from apps.answers.services import powers
from apps.answers.services.golden import texts
from apps.answers.services.golden.drafts import Status, locked, of
from apps.answers.services.golden.review import demand


def publish(caller: Caller, pk: UUID) -> GoldenAnswer:
    """Put an approved text in force as the next version.

    Promotions to this answer follow when its question stayed the same, and are retracted otherwise.

    Raises:
        Conflict: it is not approved, or another golden answer in force answers one of its questions.
        Unavailable: the embedder fails.
    """
    powers.vectors_of(phrases(of(caller, pk)))  # before any lock is taken; inside, they are remembered
    with transaction.atomic():
        hold_namespace(of(caller, pk).namespace_id)
        row = locked(caller, pk)
        demand(row, Status.APPROVED, "published")
        return put_in_force(caller, row)


def put_in_force(caller: Caller, row: GoldenAnswer) -> GoldenAnswer:
    """Make the working copy the next version; the row and its namespace are held by this transaction."""
    _refuse_taken(row)
    before, version = row.in_force, _next_version(row)
    _end(before)
    _ask(row, version)
    kept, retracted = _move_promotions(row, before, version)
    row.in_force, row.status = version, Status.PUBLISHED
    row.save()
    access.record(caller, "published", row, version=version.number, repointed=kept, retracted=retracted)
    return row


@transaction.atomic
def retire(caller: Caller, pk: UUID) -> GoldenAnswer:
    """Take a golden answer out of force and retract every promotion to it.

    Raises:
        Conflict: no version of it is in force.
    """
    row = locked(caller, pk)
    version = row.in_force
    if version is None:
        raise access.Conflict("No version of this golden answer is in force, so there is nothing to retire.")
    _end(version)
    row.questions.all().delete()
    retracted = retract(row)
    row.in_force, row.status = None, Status.RETIRED
    row.save()
    access.record(caller, "retired", row, version=version.number, retracted=retracted)
    return row


def retract(row: GoldenAnswer) -> int:
    """Delete every promotion to a golden answer; returns how many."""
    return Entry.objects.filter(pk__in=_held_promotions(row)).delete()[0]


def hold_namespace(namespace_id: UUID) -> None:
    """Let one publication at a time look whether a question is taken; serving and promotion never wait for it."""
    Namespace.objects.select_for_update(no_key=True).get(pk=namespace_id)


def phrases(row: GoldenAnswer) -> list[str]:
    """Give the question and its aliases, each normal form once."""
    return list({text.digest(phrase): phrase for phrase in reversed([row.question, *row.aliases])}.values())[::-1]


def _next_version(row: GoldenAnswer) -> GoldenVersion:
    last = row.versions.aggregate(last=Max("number"))["last"] or 0
    values = {**texts.of(row), "author": row.author, "approver": row.approver}
    return GoldenVersion.objects.create(golden=row, number=last + 1, **values)


def _end(version: GoldenVersion | None) -> None:
    if version is not None:
        GoldenVersion.objects.filter(pk=version.pk).update(ended_at=Now())


def _ask(row: GoldenAnswer, version: GoldenVersion) -> None:
    """Replace what serving searches by the questions of a version."""
    wordings = phrases(row)
    row.questions.all().delete()
    name = powers.embedder().name
    GoldenQuestion.objects.bulk_create(
        GoldenQuestion(
            namespace_id=row.namespace_id,
            golden=row,
            version=version,
            number=version.number,
            text=wording,
            digest=text.digest(wording),
            embedder=name,
            vector=vector,
            valid_from=row.valid_from,
            valid_until=row.valid_until,
        )
        for wording, vector in zip(wordings, powers.vectors_of(wordings), strict=True)
    )


def _refuse_taken(row: GoldenAnswer) -> None:
    """Refuse a question that another golden answer in force answers at the same time: serving could not choose."""
    digests = [text.digest(phrase) for phrase in phrases(row)]
    others = GoldenQuestion.objects.filter(namespace_id=row.namespace_id, digest__in=digests).exclude(golden=row)
    if row.valid_from:
        others = others.filter(Q(valid_until=None) | Q(valid_until__gt=row.valid_from))
    if row.valid_until:
        others = others.filter(Q(valid_from=None) | Q(valid_from__lt=row.valid_until))
    if taken := others.first():
        message = f"Golden answer {taken.golden_id} already answers {taken.text[:200]!r} at the same time."
        raise access.Conflict(message, field="question")


def _move_promotions(row: GoldenAnswer, before: GoldenVersion | None, version: GoldenVersion) -> tuple[int, int]:
    """Point promotions at the new version, or retract them; returns how many of each."""
    same = before is not None and text.digest(before.question) == text.digest(version.question)
    if same and not (version.valid_from and version.valid_from > timezone.now()):
        held = Entry.objects.filter(pk__in=_held_promotions(row))
        return held.update(golden_version=version.number), 0
    return 0, retract(row)


def _held_promotions(row: GoldenAnswer) -> list[UUID]:
    """Lock the promotions to a golden answer, in the order in which everybody locks entries."""
    return list(Entry.objects.filter(golden=row).order_by("pk").select_for_update().values_list("pk", flat=True))
