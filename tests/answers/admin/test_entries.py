"""Operators purge entries in the console, seeing first how many that are."""

from __future__ import annotations

import pytest
from django.urls import reverse

from apps.access.models import AuditEvent
from apps.answers.models import Entry
from tests import desks, factories

pytestmark = pytest.mark.django_db
PURGE, LIST = "admin:answers_entry_purge", "admin:answers_entry_changelist"


def test_a_purge_counts_first_and_deletes_after_that() -> None:
    caller, _ = factories.key()
    factories.entry(caller, "old news", vector=None)
    factories.entry(caller, "good news", vector=None, origin="client")
    desk = desks.sit("operator")
    page = desk.post(reverse(PURGE), {"origin": "client"})
    assert (page.context["found"], Entry.objects.count()) == (1, 2)
    desk.post(reverse(PURGE), {"origin": "client", "confirm": "1"})
    assert Entry.objects.get().question == "old news"
    assert AuditEvent.objects.get(verb="purged entries of").detail["count"] == 1


def test_an_empty_filter_purges_nothing() -> None:
    caller, _ = factories.key()
    factories.entry(caller, "news", vector=None)
    desk = desks.sit("operator")
    assert "would purge everything" in desk.post(reverse(PURGE), {}).content.decode()
    assert "would purge everything" in desks.messages(desk.post(reverse(PURGE), {"confirm": "1"}))
    assert Entry.objects.count() == 1


def test_selected_entries_and_single_ones_are_deleted_by_the_service() -> None:
    caller, _ = factories.key()
    one, two = (factories.entry(caller, name, vector=None) for name in ("one", "two"))
    desk = desks.sit("operator")
    desk.post(reverse(LIST), {"action": "purge_selected", "_selected_action": [str(one.pk)]})
    assert Entry.objects.get() == two
    desk.post(reverse("admin:answers_entry_delete", args=[two.pk]), {"post": "yes"})
    assert not Entry.objects.exists()
    assert desks.audited("deleted")


def test_curators_may_not_purge() -> None:
    caller, _ = factories.key()
    row = factories.entry(caller, "news", vector=None)
    desk = desks.sit("curator")
    desk.post(reverse(LIST), {"action": "purge_selected", "_selected_action": [str(row.pk)]})
    assert desk.post(reverse("admin:answers_entry_delete", args=[row.pk]), {"post": "yes"}).status_code == 403
    assert Entry.objects.count() == 1
