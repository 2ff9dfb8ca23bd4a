"""`manage.py sample`: make the demo workspace once, and write its key and password to var/demo.env."""

from __future__ import annotations

import hashlib
import os
import secrets
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from django.conf import settings
from django.core.management.base import BaseCommand
from django.db import transaction

from apps.access import services as access
from apps.access.core.callers import SCOPES, Caller
from apps.access.models import ApiKey, Membership, User, Workspace
from apps.answers import sample
from apps.answers.models import GoldenAnswer, Label, Namespace
from apps.answers.services import judging, policies, powers, transfer
from apps.inference import services as inference

WORKSPACE, NAMESPACE, USER = "demo", "default", "demo"
CANARY_EVERY = 10  # of the labelled pairs, kept unseen to watch the judge with


class Command(BaseCommand):
    """Make what is missing of the sample workspace; a second run changes nothing and is quick."""

    help = "Make the sample workspace `demo` and write var/demo.env; harmless when it is there."

    def handle(self, *args: Any, **options: Any) -> None:
        """Make what is missing."""
        path = settings.VAR / "demo.env"
        known = read_environment(path)
        with transaction.atomic():
            workspace, _ = Workspace.objects.get_or_create(slug=WORKSPACE, defaults={"name": "Demo"})
            user, password = _owner(workspace, known)
            key = _key(workspace, user, known)
            caller = Caller(workspace.pk, frozenset(SCOPES), user_id=user.pk)
            made = ", ".join(filter(None, (_fill(caller), _ship(caller))))
        wanted = {
            "TOUCHSTONE_URL": f"http://127.0.0.1:{settings.PORT}",
            "TOUCHSTONE_KEY": key,
            "TOUCHSTONE_ADMIN_USER": USER,
            "TOUCHSTONE_ADMIN_PASSWORD": password,
        }
        if wanted != known:
            write_environment(path, wanted)
        self.stdout.write(f"sample workspace: {made}" if made else "sample workspace: as it was")


def read_environment(path: Path) -> dict[str, str]:
    """Read NAME=value lines; nothing when there is no such file."""
    lines = path.read_text().splitlines() if path.exists() else []
    return dict(line.split("=", 1) for line in lines if "=" in line)


def write_environment(path: Path, values: Mapping[str, str]) -> None:
    """Write NAME=value lines that only this user can read, in one step."""
    path.parent.mkdir(parents=True, exist_ok=True)
    beside = path.with_name(path.name + ".new")
    beside.unlink(missing_ok=True)
    beside.touch(mode=0o600)
    beside.write_text("".join(f"{name}={value}\n" for name, value in values.items()))
    os.replace(beside, path)


def _owner(workspace: Workspace, known: Mapping[str, str]) -> tuple[User, str]:
    """Give the owner and a password that works; a lost one is replaced."""
    user, made = User.objects.get_or_create(
        username=USER, defaults={"is_staff": True, "is_superuser": True, "first_name": "Demo"}
    )
    password = known.get("TOUCHSTONE_ADMIN_PASSWORD", "")
    if made or not password:
        password = secrets.token_urlsafe(15)
        user.set_password(password)
        user.save()
    Membership.objects.get_or_create(user=user, workspace=workspace, defaults={"role": Membership.Role.OWNER})
    return user, password


def _key(workspace: Workspace, user: User, known: Mapping[str, str]) -> str:
    """Give a key that works; one that was lost is revoked, for nobody can know it any more."""
    secret = known.get("TOUCHSTONE_KEY", "")
    mine = ApiKey.objects.usable().filter(workspace=workspace, name="demo")
    if secret and mine.filter(digest=hashlib.sha256(secret.encode()).digest()).exists():
        return secret
    for lost in mine:
        access.revoke(lost)
    return access.issue(workspace, "demo", SCOPES, by=user)[1]


def _fill(caller: Caller) -> str:
    """Publish the golden answers and teach the offline judge, unless somebody did; says what was made."""
    if GoldenAnswer.objects.filter(namespace__workspace_id=caller.workspace_id, namespace__name=NAMESPACE).exists():
        return ""
    namespace, _ = policies.change(caller, NAMESPACE, {})
    Namespace.objects.filter(pk=namespace.pk).update(four_eyes=False)  # the sample has one person only
    report = transfer.import_rows(caller, _records(), publish=True)
    if report.faults:
        raise RuntimeError(f"the sample is not valid: {report.faults[:3]}")
    pairs = _pairs()
    canaries = pairs[::CANARY_EVERY]
    judging.add_pairs(caller, namespace, [pair for pair in pairs if pair not in canaries])
    judging.add_pairs(caller, namespace, canaries, canary=True)
    judging.learn(namespace)
    labels = Label.objects.filter(namespace=namespace).count()
    return f"{report.created} golden answers published, {labels} labelled pairs"


def _ship(caller: Caller) -> str:
    """Register the networks of the product; the worker prepares them once it runs."""
    made = inference.ship(caller)
    return f"{len(made)} networks to prepare" if made else ""


def _pairs() -> list[judging.LabelledPair]:
    """Pair every labelled question with the nearest wording of its golden answer, as a reviewer would be shown it."""
    wordings = {row.question: (row.question, *row.aliases) for row in sample.answers()}
    embed = powers.embedder().embed
    embed([label.question for label in sample.labels()])  # in one batch; remembered below
    pairs = []
    for label in sample.labels():
        known = wordings[label.golden_question]
        nearest = int((embed(known) @ embed([label.question])[0]).argmax())
        pairs.append(judging.LabelledPair(label.question, known[nearest], label.same))
    return pairs


def _records() -> list[transfer.Record]:
    return [
        transfer.Record(
            number,
            {
                "namespace": NAMESPACE,
                "question": row.question,
                "answer": row.answer,
                "aliases": list(row.aliases),
                "tags": [row.topic, *(tag for tag in row.tags if tag != row.topic)],
            },
        )
        for number, row in enumerate(sample.answers(), 1)
    ]
