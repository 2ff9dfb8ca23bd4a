"""Rows for tests, made the way the product makes them."""

from typing import Any

from apps.access import services as access
from apps.access.core.callers import Caller
from apps.access.models import Workspace
from apps.answers.core import text
from apps.answers.models import GoldenAnswer, GoldenQuestion, GoldenVersion
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
