"""Promotion: an approved near miss becomes a pointer in the dynamic tier (Krites, 2026: auxiliary overwrite)."""

from __future__ import annotations

from django.db import connection, transaction

from apps.answers.core.policy import Policy
from apps.answers.models import Entry, GoldenAnswer, Verification
from apps.answers.models.tiers import literal
from apps.answers.services import noting, powers
from apps.metrics import services as metrics

PROMOTED = "promoted"
RETRACTED = "retracted: a person decided otherwise"

# A newer entry that was filled by a client, or is itself promoted, wins over this verification.
UPSERT = """
INSERT INTO answers_entry AS e (namespace_id, question, digest, context, embedder, vector, origin, answer, golden_id,
    golden_version, verification_id, by, expires_at, hits)
VALUES (%(namespace)s, %(question)s, %(digest)s, ''::bytea, %(embedder)s, %(vector)s, 'golden', NULL, %(golden)s,
    %(golden_version)s, %(verification)s, %(by)s, now() + %(ttl)s::interval, 0)
ON CONFLICT (namespace_id, context, digest) DO UPDATE
    SET origin = 'golden', answer = NULL, golden_id = excluded.golden_id, golden_version = excluded.golden_version,
        verification_id = excluded.verification_id, by = excluded.by, written_at = now(), created_at = now(),
        expires_at = excluded.expires_at, suspended_at = NULL, vector = excluded.vector, embedder = excluded.embedder
    WHERE e.verification_id = excluded.verification_id OR e.written_at <= %(recorded)s OR e.expires_at <= now()
        OR e.origin = 'generated'
RETURNING id
"""


def promote(verification: Verification) -> str:
    """Point the question's key at the golden answer; returns `promoted` or why it was refused. Idempotent."""
    result = _promote(verification)
    Verification.objects.filter(pk=verification.pk).update(promotion=result)
    name = "promotion:promoted" if result == PROMOTED else "promotion:refused"
    namespace = verification.namespace
    metrics.count(namespace.workspace_id, noting.CACHE, namespace.name, name)
    return result


def retract(verification: Verification) -> None:
    """Take back what stands under this question as a promotion to this golden answer, whichever judge approved it."""
    gone, _ = Entry.objects.filter(
        namespace=verification.namespace_id, digest=verification.digest, golden=verification.golden_id, origin="golden"
    ).delete()
    if gone or verification.promotion == PROMOTED:
        Verification.objects.filter(pk=verification.pk).update(promotion=RETRACTED)


def _promote(verification: Verification) -> str:
    vector = powers.embedder().embed([verification.question])[0]
    with transaction.atomic():
        # The same lock that publish and retire take, so a version cannot end between this look and the write.
        golden = (
            GoldenAnswer.objects.select_for_update(of=("self",), no_key=True)
            .select_related("in_force")
            .get(pk=verification.golden_id)
        )
        if why := _refusal(verification, golden):
            return why
        with connection.cursor() as cursor:
            cursor.execute(
                UPSERT,
                {
                    "namespace": verification.namespace_id,
                    "question": verification.question,
                    "digest": bytes(verification.digest),
                    "embedder": powers.embedder().name,
                    "vector": literal(vector),
                    "golden": golden.pk,
                    "golden_version": verification.golden_version,
                    "verification": verification.pk,
                    "by": verification.judged_by or verification.judge,
                    "recorded": verification.created_at,
                    "ttl": f"{_policy(verification).entry_ttl_s} seconds",
                },
            )
            return PROMOTED if cursor.fetchone() else "refused: a newer entry stands under this question"


def _policy(verification: Verification) -> Policy:
    return Policy.from_mapping(verification.namespace.policy)


def _refusal(verification: Verification, golden: GoldenAnswer) -> str:
    """Say why a promotion is refused; empty when it may go ahead."""
    verification.namespace.refresh_from_db()
    if golden.in_force is None or golden.in_force.number != verification.golden_version:
        return "refused: this golden version is no longer in force"
    if _policy(verification).paused:
        return "refused: the namespace is paused"
    by_judge = verification.judged_by in {"", verification.judge}
    if verification.namespace.promotion_paused and by_judge:
        return "refused: promotion is paused"
    return ""
