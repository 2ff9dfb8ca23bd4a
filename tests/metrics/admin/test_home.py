"""The first page: what was saved, at the workspace's own prices, and nothing of anybody else's."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta

import pytest
from django.urls import reverse

from apps.access.core.prices import Prices
from apps.access.models import Workspace
from apps.metrics.models import Tally
from tests import desks, factories

pytestmark = pytest.mark.django_db
HOME = reverse("admin:index")


def tally(workspace: Workspace, **counts: int) -> None:
    minute = datetime.now(UTC).replace(second=0, microsecond=0) - timedelta(minutes=5)
    Tally.objects.create(workspace=workspace, cache="answers", subject="default", minute=minute, counts=counts)


def test_a_day_is_told_in_the_workspaces_own_money(valkey: object) -> None:
    caller, _ = factories.key()
    workspace = Workspace.objects.get(pk=caller.workspace_id)
    Workspace.objects.filter(pk=workspace.pk).update(prices={"currency": "EUR", "call": 0.5, "tokens": 100})
    tally(workspace, static_hit=30, dynamic_hit=10, miss=60)
    other, _ = factories.key("other")
    tally(Workspace.objects.get(pk=other.workspace_id), static_hit=7_777)
    page = desks.sit("viewer").get(HOME)
    (day,) = page.context["days"]
    assert day["money"] == "20.00 EUR"
    assert (day["hit"], day["requests"]) == ("40.0%", "100")
    assert "4,000 tokens" in day["savings"]
    assert "7,777" not in page.content.decode()


def test_a_workspace_that_did_nothing_shows_no_savings(valkey: object) -> None:
    factories.key()
    assert desks.sit("viewer").get(HOME).context["days"] == []


def test_owners_set_prices_and_negative_ones_are_refused(valkey: object) -> None:
    caller, _ = factories.key()
    workspace = Workspace.objects.get(pk=caller.workspace_id)
    page = reverse("admin:access_workspace_change", args=[workspace.pk])
    values = {"name": "Acme", "currency": "CHF", "call": "0.01", "tokens": "1", "seconds": "2", "cpu_hour": "0"}
    desk = desks.sit("owner")
    desk.post(page, {**values, "gigabyte": "-1"})
    workspace.refresh_from_db()
    assert workspace.prices == {}
    desk.post(page, {**values, "gigabyte": "0.1"})
    workspace.refresh_from_db()
    assert (workspace.prices["currency"], workspace.prices["call"]) == ("CHF", 0.01)


@pytest.mark.parametrize("values", [None, [], {"call": "free"}, {"call": -1}, {"call": float("nan")}, {"call": True}])
def test_prices_that_make_no_sense_are_the_defaults(values: object) -> None:
    assert Prices.from_mapping(values) == Prices()
