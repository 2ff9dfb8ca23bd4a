"""Every page of the console opens for each role, and shows one workspace only."""

from __future__ import annotations

import pytest
from django.urls import reverse

from apps.access.models import Membership, Workspace
from tests import desks, factories

pytestmark = pytest.mark.django_db
PAGES = (
    "answers_goldenanswer", "answers_query", "answers_feedback", "answers_entry", "answers_verification",
    "answers_label", "answers_canaryrun", "answers_namespace", "answers_calibration", "answers_replay",
    "access_apikey", "access_auditevent", "access_membership", "access_workspace",
)  # fmt: skip
OWN_PAGES = (
    "index", "answers_goldenanswer_conflicts", "answers_verification_review", "answers_goldenanswer_import",
    "answers_goldenanswer_export", "answers_entry_purge", "answers_goldenanswer_add", "answers_namespace_add",
)  # fmt: skip
FORBIDDEN = {
    "viewer": {"access_apikey", *OWN_PAGES[3:]},
    "curator": {"access_apikey", "answers_entry_purge", "answers_namespace_add"},
    "operator": {"answers_goldenanswer_import", "answers_goldenanswer_export", "answers_goldenanswer_add"},
    "owner": set[str](),
    "superuser": set[str](),
}


@pytest.mark.parametrize("role", [*desks.ROLES, "superuser"])
def test_each_role_opens_what_it_may_and_nothing_else(role: str) -> None:
    caller, _ = factories.key()
    rows = desks.fill(caller, "gold")
    desk = desks.sit(role)
    for name in PAGES:
        wanted = 403 if name in FORBIDDEN[role] else 200
        found = desk.get(reverse(f"admin:{name}_changelist"))
        assert (name, found.status_code) == (name, wanted)
        one = desk.get(reverse(f"admin:{name}_change", args=[rows[name].pk]), follow=True)
        assert (name, one.status_code) == (name, wanted)
    for name in OWN_PAGES:
        wanted = 403 if name in FORBIDDEN[role] else 200
        assert (name, desk.get(reverse(f"admin:{name}")).status_code) == (name, wanted)


def test_another_workspace_is_invisible() -> None:
    caller, _ = factories.key()
    theirs, _ = factories.key("globex")
    desks.fill(caller, "ours")
    rows = desks.fill(theirs, "secret")
    desk = desks.sit("owner")
    for name in PAGES:
        page = desk.get(reverse(f"admin:{name}_changelist"))
        assert "secret" not in page.content.decode(), name
        for url in ("change", "history"):
            assert desk.get(reverse(f"admin:{name}_{url}", args=[rows[name].pk])).status_code == 404, name
    golden, review = rows["answers_goldenanswer"].pk, rows["answers_verification"].pk
    for path in (
        reverse("admin:answers_goldenanswer_act", args=[golden, "retire"]),
        reverse("admin:answers_verification_decide", args=[review]),
        reverse("admin:answers_namespace_change", args=[rows["answers_namespace"].pk]),
        reverse("admin:answers_replay_change", args=[rows["answers_replay"].pk]),
        reverse("admin:access_apikey_revoke", args=[rows["access_apikey"].pk]),
    ):
        assert desk.post(path, {"verdict": "APPROVE", "act": "pause"}).status_code == 404
    assert "secret" not in desk.get(reverse("admin:answers_verification_review") + f"?at={review}").content.decode()


def test_a_person_of_two_workspaces_sits_in_one_at_a_time() -> None:
    desks.fill(factories.key()[0], "ours")
    desks.fill(factories.key("globex")[0], "theirs")
    desk = desks.sit("viewer")
    Membership.objects.create(user=desks.user_of(desk), workspace=Workspace.objects.get(slug="globex"), role="curator")
    listed = reverse("admin:answers_goldenanswer_changelist")
    assert "ours" in desk.get(listed).content.decode()
    moved = desk.post(reverse("admin:access_workspace_switch"), {"workspace": "globex", "next": listed})
    assert moved["Location"] == listed
    page = desk.get(listed).content.decode()
    assert "theirs" in page and "ours" not in page
    desk.post(reverse("admin:access_workspace_switch"), {"workspace": "nowhere", "next": "https://elsewhere.example/"})
    assert "theirs" in desk.get(listed).content.decode()


def test_a_stranger_sees_no_desk() -> None:
    factories.key()
    desk = desks.sit("viewer")
    Membership.objects.all().delete()
    assert "No workspace is open to you" in desk.get(reverse("admin:index")).content.decode()
    assert desk.get(reverse("admin:answers_goldenanswer_changelist")).status_code == 403


def test_the_first_page_says_what_waits() -> None:
    caller, _ = factories.key()
    golden = factories.golden(caller, "How do I pay?", "By card.")
    factories.golden(caller, "How do I pay??", "By cash.")
    factories.verification(golden, "ways to pay", status="done", verdict="UNSURE")
    page = desks.sit("curator").get(reverse("admin:index"))
    waiting = {task.title: task.count for task in page.context["tasks"]}
    assert waiting["Pairs to review in default"] == 1
    assert waiting["Conflicts in default"] == 1
    assert "Golden answers to approve" not in waiting
