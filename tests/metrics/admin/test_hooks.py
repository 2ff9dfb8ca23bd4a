"""Hooks and alarms in the console: who may, what is refused, and where the runbooks are."""

from __future__ import annotations

import re
from pathlib import Path

import pytest
from django.conf import settings
from django.urls import reverse

from apps.access.models import AuditEvent
from apps.metrics import services
from apps.metrics.models import Alarm, Hook, Notice
from tests import desks, factories

pytestmark = pytest.mark.django_db
ADD = reverse("admin:metrics_hook_add")
FORM = {
    "name": "ops",
    "kind": "webhook",
    "address": "https://hooks.example.org/secret-path",
    "alarms": "on",
    "active": "on",
}


def test_an_operator_adds_tries_and_deletes_a_hook(valkey: object) -> None:
    factories.key()
    client = desks.sit("operator")
    assert client.post(ADD, FORM).status_code == 302
    row = Hook.objects.get()
    assert row.secret.startswith("whsec_")
    page = client.get(reverse("admin:metrics_hook_change", args=[row.pk])).content.decode()
    assert row.secret in page
    assert client.post(reverse("admin:metrics_hook_trial", args=[row.pk])).status_code == 302
    assert Notice.objects.get().event == "trial"
    assert "secret-path" not in str(list(AuditEvent.objects.values_list("detail", flat=True)))
    assert client.post(reverse("admin:metrics_hook_delete", args=[row.pk]), {"post": "yes"}).status_code == 302
    assert not Hook.objects.exists()


@pytest.mark.parametrize("change", [{"address": "ftp://x"}, {"kind": "mail", "address": "a@b.org"}, {"name": ""}])
def test_what_cannot_be_told_is_refused_with_a_reason(valkey: object, change: dict[str, str]) -> None:
    factories.key()
    assert desks.sit("operator").post(ADD, {**FORM, **change}).status_code in {200, 302}
    assert not Hook.objects.exists()


def test_a_name_is_taken_once(valkey: object) -> None:
    factories.key()
    client = desks.sit("operator")
    client.post(ADD, FORM)
    assert "of this name already" in client.post(ADD, FORM, follow=True).content.decode()
    assert Hook.objects.count() == 1


def test_viewers_and_strangers_see_no_hook(valkey: object) -> None:
    caller, _ = factories.key()
    row = services.save(caller, Hook(name="ops", address="https://x.example.org/"))
    assert desks.sit("viewer").get(reverse("admin:metrics_hook_change", args=[row.pk])).status_code == 403
    factories.key("other")
    stranger = desks.sit("operator", slug="other")
    assert stranger.get(reverse("admin:metrics_hook_change", args=[row.pk])).status_code == 404
    assert stranger.post(reverse("admin:metrics_hook_trial", args=[row.pk])).status_code == 404


def test_alarms_are_listed_for_everybody_and_runbooks_have_each_anchor(valkey: object) -> None:
    caller, _ = factories.key()
    Alarm.objects.create(workspace_id=caller.workspace_id, title="It burns")
    client = desks.sit("viewer")
    assert "It burns" in client.get(reverse("admin:metrics_alarm_changelist")).content.decode()
    page = client.get("/runbooks/").content.decode()
    code = "".join(path.read_text() for path in (Path(settings.BASE_DIR) / "apps").rglob("*.py"))
    named = {*re.findall(r'runbook\("(\w+)"\)', code), "collapse", "edge", "fallback", "model", "video"}
    assert len(named) > 8
    assert [name for name in named if f'id="{name}"' not in page] == []
