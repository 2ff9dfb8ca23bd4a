"""Rows for tests, made the way the product makes them."""

from datetime import timedelta
from typing import Any

from django.utils import timezone

from apps.access import services as access
from apps.access.core.callers import Caller
from apps.access.models import Membership, User, Workspace
from apps.answers.core import text
from apps.answers.models import Entry, GoldenAnswer, GoldenQuestion, GoldenVersion, Namespace, Query, Verification
from apps.answers.services import policies, powers


def key(
    slug: str = "acme", scopes: tuple[str, ...] = ("client", "curator", "operator"), **more: Any
) -> tuple[Caller, str]:
    """Make a workspace with a `default` namespace and a key; returns the key's caller and secret."""
    workspace, _ = Workspace.objects.get_or_create(slug=slug, defaults={"name": slug.title()})
    _, secret = access.issue(workspace, "test", scopes, **more)
    caller = access.recognise(secret)
    assert caller is not None
    policies.change(caller, "default", {})
    return caller, secret


def golden(caller: Caller, question: str, answer: str, *aliases: str, namespace: str = "default") -> GoldenAnswer:
    """Make a published golden answer."""
    space = policies.namespace(caller.workspace_id, namespace)
    row = GoldenAnswer.objects.create(
        namespace=space, question=question, answer=answer, aliases=list(aliases), status="published"
    )
    version = GoldenVersion.objects.create(
        golden=row, number=1, question=question, answer=answer, aliases=list(aliases)
    )
    row.in_force = version
    row.save()
    for phrase in (question, *aliases):
        GoldenQuestion.objects.create(
            namespace=space,
            golden=row,
            version=version,
            number=1,
            text=phrase,
            digest=text.digest(phrase),
            embedder=powers.embedder().name,
            vector=powers.embedder().embed([phrase])[0],
        )
    return row


def namespace(caller: Caller, name: str = "default", *, four_eyes: bool = True, **policy: Any) -> Namespace:
    """Make or change a namespace."""
    row, _ = policies.change(caller, name, policy)
    Namespace.objects.filter(pk=row.pk).update(four_eyes=four_eyes)
    row.refresh_from_db()
    return row


def verification(golden: GoldenAnswer, question: str, **more: Any) -> Verification:
    """Make a queued verification of a near miss, without sending its message."""
    number = golden.in_force.number if golden.in_force else 1
    values = {
        "namespace": golden.namespace,
        "question": question,
        "digest": text.digest(question),
        "golden": golden,
        "golden_version": number,
        "golden_question": golden.question,
        "judge": "human:1",
        "similarity": 0.7,
        "margin": 0.3,
    }
    return Verification.objects.create(**{**values, **more})


def entry(caller: Caller, question: str, answer: str = "An answer.", *, space: str = "default", **more: Any) -> Entry:
    """Make a live entry with text; `vector=None` spares the embedder."""
    values = {
        "namespace": policies.namespace(caller.workspace_id, space),
        "question": question,
        "digest": text.digest(question),
        "embedder": powers.embedder().name,
        "origin": Entry.Origin.GENERATED,
        "answer": answer,
        "expires_at": timezone.now() + timedelta(days=1),
    }
    if "vector" not in more:
        more["vector"] = powers.embedder().embed([question])[0]
    return Entry.objects.create(**{**values, **more})


def promotion(caller: Caller, golden: GoldenAnswer, question: str, **more: Any) -> Entry:
    """Make a promoted entry that points at a golden answer, with the verification behind it."""
    judged = verification(golden, question, status="done", verdict="APPROVE", promotion="promoted")
    values = {
        "origin": Entry.Origin.GOLDEN,
        "answer": None,
        "golden": golden,
        "golden_version": judged.golden_version,
        "verification": judged,
        "space": golden.namespace.name,
    }
    return entry(caller, question, **{**values, **more})


def query(caller: Caller, question: str, outcome: str = "miss", *, space: str = "default", **more: Any) -> Query:
    """Make a row of the query log."""
    row = policies.namespace(caller.workspace_id, space)
    return Query.objects.create(
        namespace=row, by=caller.name, question=question, digest=text.digest(question), outcome=outcome, **more
    )


def member(slug: str, role: str, username: str = "ada") -> User:
    """Make a person with a role in a workspace."""
    workspace = Workspace.objects.get(slug=slug)
    user = User.objects.create_user(username)
    Membership.objects.create(user=user, workspace=workspace, role=role)
    return user
