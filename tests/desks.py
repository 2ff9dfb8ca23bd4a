"""People at their desks, and a workspace with one row of every kind."""

from __future__ import annotations

from typing import Any

from asgiref.sync import async_to_sync
from django.test import Client

from apps.access.core.callers import Caller
from apps.access.models import AuditEvent, Membership, User, Workspace
from apps.answers.models import Calibration, CanaryRun, Feedback, Label, Replay
from tests import factories

ROLES = ("viewer", "curator", "operator", "owner")


def sit(role: str = "owner", slug: str = "acme", username: str = "") -> Client:
    """Sign a person in who has a role in a workspace; `superuser` has none and sees all."""
    name = username or f"{role}-{slug}"
    if role == "superuser":
        user = User.objects.create_superuser(name)
    else:
        user = User.objects.create_user(name, is_staff=True)
        Membership.objects.create(user=user, workspace=Workspace.objects.get(slug=slug), role=role)
    client = Client()
    client.force_login(user)
    return client


def user_of(client: Client) -> User:
    """Give the person who is signed in."""
    return User.objects.get(pk=client.session["_auth_user_id"])


def fill(caller: Caller, word: str) -> dict[str, Any]:
    """Make one row of every kind the console shows; each names the word."""
    golden = factories.golden(caller, f"How do I pay for {word}?", f"By card, {word}.")
    space = golden.namespace
    query = factories.query(caller, f"paying {word}", "static_hit", golden_id=golden.pk, golden_version=1)
    review = factories.verification(golden, f"ways to pay {word}", status="done", verdict="UNSURE")
    change = space.policy_changes.first()
    assert change is not None
    member = User.objects.create_user(f"member-{word}")
    pair = {"namespace": space, "question": f"a {word}", "golden_question": f"b {word}", "similarity": 0.7}
    return {
        "answers_goldenanswer": golden,
        "answers_query": query,
        "answers_feedback": Feedback.objects.create(query=query, verdict="good", note=word),
        "answers_entry": factories.entry(caller, f"an entry about {word}"),
        "answers_verification": review,
        "answers_label": Label.objects.create(**pair, same=True, source="curator"),
        "answers_canaryrun": CanaryRun.objects.create(
            namespace=space, judge=word, total=1, agreed=1, approved=1, false_approvals=0, false_approve_upper=0.9
        ),
        "answers_namespace": space,
        "answers_calibration": Calibration.objects.create(namespace=space, error_budget=0.02, by=caller.name),
        "answers_replay": Replay.objects.create(namespace=space, candidate=space.policy, by=caller.name),
        "access_apikey": space.workspace.api_keys.first(),
        "access_membership": Membership.objects.create(user=member, workspace=space.workspace),
        "access_workspace": space.workspace,
        "access_auditevent": AuditEvent.objects.filter(workspace=space.workspace).first(),
    }


def whole(reply: Any) -> str:
    """Read a page that comes in parts to its end."""

    async def parts() -> list[bytes]:
        return [part async for part in reply.streaming_content]

    return b"".join(async_to_sync(parts)()).decode()


def audited(verb: str) -> bool:
    """Say whether the audit log has an act."""
    return AuditEvent.objects.filter(verb=verb).exists()


def messages(response: Any) -> str:
    """Read the messages of the page that a redirect led to."""
    return " ".join(str(message) for message in response.context["messages"])
