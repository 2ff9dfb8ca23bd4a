"""Policies over the API: what may be set, and what is only told."""

from __future__ import annotations

import pytest

from apps.answers.services import judging, policies
from tests import factories
from tests.clients import Http

pytestmark = pytest.mark.django_db(transaction=True)
PATH = "/api/v1/answers/policies/default/"


def test_a_budget_that_no_judge_can_keep_and_a_cache_without_room_are_refused() -> None:
    caller, secret = factories.key()
    factories.namespace(caller)
    for patch in ({"error_budget": 0}, {"max_entries": 0}):
        reply = Http(secret).call("PATCH", PATH, patch)
        assert reply.status_code == 422
        assert [error["field"] for error in reply.json()["errors"]] == list(patch)


def test_a_pause_of_promotion_is_told_and_a_policy_can_be_sent_back_as_it_came() -> None:
    caller, secret = factories.key()
    factories.namespace(caller)
    space = policies.namespace(caller.workspace_id, "default")
    judging.pause_promotion(space, "2 of only 3 approvals were wrong")
    told = Http(secret).get(PATH).json()
    assert (told["judge"], told["promotion_paused"]) == ("offline", "2 of only 3 approvals were wrong")
    assert Http(secret).call("PATCH", PATH, told).json() == told


def test_lists_refuse_parameters_and_orders_they_do_not_know() -> None:
    _, secret = factories.key()
    for query in ("colour=red", "ordering=colour"):
        reply = Http(secret).get(f"/api/v1/answers/golden/?{query}")
        assert reply.status_code == 422, query
    assert Http(secret).get("/api/v1/answers/golden/?ordering=-created_at&page_size=3").status_code == 200
