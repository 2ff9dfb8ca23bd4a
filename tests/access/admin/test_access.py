"""Members, keys and the audit log in the console."""

from __future__ import annotations

from datetime import UTC, datetime
from typing import Any

import pytest
from asgiref.sync import async_to_sync
from django.test import AsyncClient, Client
from django.urls import reverse

from apps.access import services
from apps.access.models import ApiKey, AuditEvent, Membership, SavedView, User, Workspace
from tests import desks, factories

pytestmark = pytest.mark.django_db
ADD_KEY, KEYS = "admin:access_apikey_add", "admin:access_apikey_changelist"
ADD_MEMBER = "admin:access_membership_add"


def issue(desk: Client, **more: Any) -> Any:
    values = {"name": "robot", "scopes": ["client"], "rate_per_minute": 5, "expires_at_0": "", "expires_at_1": ""}
    return desk.post(reverse(ADD_KEY), {**values, **more})


def test_a_secret_is_shown_once_and_works() -> None:
    factories.key()
    desk = desks.sit("owner")
    page = issue(desk)
    secret = page.context["secret"]
    assert secret in page.content.decode() and "no-store" in page["Cache-Control"]
    caller = services.recognise(secret)
    assert caller is not None and (caller.scopes, caller.rate_per_minute) == (frozenset({"client"}), 5)
    key = ApiKey.objects.get(name="robot")
    for url in (reverse(KEYS), reverse("admin:access_apikey_change", args=[key.pk])):
        assert secret not in desk.get(url).content.decode()
    assert AuditEvent.objects.get(verb="issued").detail == {"name": "robot", "scopes": ["client"]}


def test_a_key_without_scopes_is_not_issued() -> None:
    factories.key()
    page = issue(desks.sit("owner"), scopes=[])
    assert "scopes" in page.context["adminform"].form.errors


def test_a_revoked_key_is_refused_at_once() -> None:
    factories.key()
    desk = desks.sit("owner")
    secrets = [issue(desk, name=name).context["secret"] for name in ("one", "two")]
    rows = [ApiKey.objects.get(name=name) for name in ("one", "two")]
    desk.post(reverse("admin:access_apikey_revoke", args=[rows[0].pk]))
    desk.post(reverse(KEYS), {"action": "revoke_selected", "_selected_action": [str(rows[1].pk)]})
    services.renew_epoch()
    assert [services.recognise(secret) for secret in secrets] == [None, None]
    assert AuditEvent.objects.filter(verb="revoked").count() == 2


@pytest.mark.parametrize("role", ["viewer", "curator", "operator"])
def test_only_owners_issue_and_revoke(role: str) -> None:
    factories.key()
    key = ApiKey.objects.get()
    desk = desks.sit(role)
    assert issue(desk).status_code == 403
    assert desk.post(reverse("admin:access_apikey_revoke", args=[key.pk])).status_code in {403, 404}
    desk.post(reverse(KEYS), {"action": "revoke_selected", "_selected_action": [str(key.pk)]})
    key.refresh_from_db()
    assert key.revoked_at is None


def test_an_owner_admits_somebody_who_may_then_open_the_console() -> None:
    factories.key()
    desk = desks.sit("owner")
    User.objects.create_user("eve")
    desk.post(reverse(ADD_MEMBER), {"username": "eve", "role": "curator"})
    row = Membership.objects.get(user__username="eve")
    assert (row.role, row.user.is_staff) == ("curator", True)
    desk.post(reverse("admin:access_membership_change", args=[row.pk]), {"role": "viewer"})
    row.refresh_from_db()
    assert row.role == "viewer"
    desk.post(reverse("admin:access_membership_delete", args=[row.pk]), {"post": "yes"})
    assert not Membership.objects.filter(user__username="eve").exists()
    assert desks.audited("admitted")
    assert desks.audited("dismissed")


def test_a_name_nobody_has_is_not_admitted() -> None:
    factories.key()
    page = desks.sit("owner").post(reverse(ADD_MEMBER), {"username": "nobody", "role": "curator"})
    assert "username" in page.context["adminform"].form.errors


def test_the_last_owner_stays() -> None:
    factories.key()
    desk = desks.sit("owner")
    row = Membership.objects.get()
    page = desk.post(reverse("admin:access_membership_change", args=[row.pk]), {"role": "viewer"}, follow=True)
    assert "needs an owner" in desks.messages(page)
    page = desk.post(reverse("admin:access_membership_delete", args=[row.pk]), {"post": "yes"}, follow=True)
    assert "needs an owner" in desks.messages(page)
    assert Membership.objects.get().role == "owner"


@pytest.mark.parametrize("role", ["viewer", "curator", "operator"])
def test_only_owners_admit(role: str) -> None:
    factories.key()
    User.objects.create_user("eve")
    assert desks.sit(role).post(reverse(ADD_MEMBER), {"username": "eve", "role": "owner"}).status_code == 403


def test_people_are_managed_by_superusers_only() -> None:
    factories.key()
    url = reverse("admin:access_user_changelist")
    assert desks.sit("owner").get(url).status_code == 403
    boss = desks.sit("superuser")
    assert boss.get(url).status_code == 200
    assert boss.get(reverse("admin:access_user_add")).status_code == 200
    boss.post(reverse("admin:access_workspace_add"), {"name": "Globex", "slug": "globex", "prices": "{}"})
    assert Workspace.objects.filter(slug="globex").exists()


def test_the_audit_log_is_read_only_and_finds_a_row() -> None:
    caller, _ = factories.key()
    golden = factories.golden(caller, "How do I pay?", "By card.")
    services.record(caller, "looked at", golden, why="curious")
    event = AuditEvent.objects.get(verb="looked at")
    desk = desks.sit("owner")
    page = desk.get(reverse("admin:answers_goldenanswer_history", args=[golden.pk]), follow=True)
    assert [row.verb for row in page.context["cl"].result_list] == ["looked at"]
    assert desk.post(reverse("admin:access_auditevent_change", args=[event.pk]), {"verb": "nothing"}).status_code == 403
    assert desk.post(reverse("admin:access_auditevent_delete", args=[event.pk]), {"post": "yes"}).status_code == 403


def test_a_person_saves_a_list_as_they_like_it_and_only_they_see_it() -> None:
    factories.key()
    desk, other = desks.sit("owner"), desks.sit("viewer")
    page, keep = reverse("admin:access_auditevent_changelist"), reverse("admin:access_workspace_view")
    desk.post(keep, {"list": f"{page}?kind=access.apikey", "name": "Keys"})
    assert [view.query for view in desk.get(page).context["cl"].saved_views] == ["kind=access.apikey"]
    assert other.get(page).context["cl"].saved_views == []
    (view,) = desk.get(page).context["cl"].saved_views
    other.post(keep, {"list": page, "remove": str(view.pk)})
    assert len(desk.get(page).context["cl"].saved_views) == 1
    desk.post(keep, {"list": page, "remove": str(view.pk)})
    assert desk.get(page).context["cl"].saved_views == []


@pytest.mark.parametrize(
    "values", [{"name": " "}, {"name": "x" * 61}, {"name": "x", "list": "https://elsewhere.example/"}]
)
def test_a_view_without_a_name_or_elsewhere_is_refused(values: dict[str, str]) -> None:
    factories.key()
    page = reverse("admin:access_auditevent_changelist")
    reply = desks.sit("owner").post(reverse("admin:access_workspace_view"), {"list": page, **values})
    assert reply.headers["Location"].startswith("/admin/")
    assert not SavedView.objects.exists()


@pytest.mark.parametrize(("zone", "hour"), [("Asia/Tokyo", "21:00"), ("", "12:00"), ("Nowhere/Land", "12:00")])
def test_times_are_written_in_the_viewers_zone(zone: str, hour: str) -> None:
    caller, _ = factories.key()
    AuditEvent.objects.update(created_at=datetime(2026, 5, 4, 12, tzinfo=UTC))
    desk = AsyncClient()
    desk.force_login(desks.user_of(desks.sit("owner")))
    desk.cookies["zone"] = zone
    assert AuditEvent.objects.filter(workspace_id=caller.workspace_id).exists()
    page = async_to_sync(desk.get)(reverse("admin:access_auditevent_changelist"))
    assert hour in page.content.decode()
