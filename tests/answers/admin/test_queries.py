"""The query log in the console: searched in bounded time, filtered to who was served what."""

from __future__ import annotations

import pytest
from django.db import connection
from django.test.utils import CaptureQueriesContext
from django.urls import reverse

from apps.access.admin import lists
from apps.answers.admin.queries import QueryAdmin
from apps.answers.models import Query
from tests import desks, factories

pytestmark = pytest.mark.django_db
LIST = "admin:answers_query_changelist"


def test_questions_are_found_by_id_by_wording_and_by_words() -> None:
    caller, _ = factories.key()
    row = factories.query(caller, "How do I pay?")
    factories.query(caller, "How do I leave?")
    desk = desks.sit("viewer")

    def found(term: str) -> list[str]:
        return [each.question for each in desk.get(reverse(LIST), {"q": term}).context["cl"].result_list]

    assert found(str(row.pk)) == found("how do i  PAY?") == found("pay") == ["How do I pay?"]
    assert found("nobody asked this") == []


def test_who_asked_is_named() -> None:
    caller, _ = factories.key()
    factories.query(caller, "How do I pay?")
    row = desks.sit("viewer").get(reverse(LIST)).context["cl"].result_list[0]
    assert row.by_name == "test"


def test_a_long_list_is_neither_counted_nor_read_row_by_row(monkeypatch: pytest.MonkeyPatch) -> None:
    caller, _ = factories.key()
    for number in range(12):
        factories.query(caller, f"question {number}")
    desk = desks.sit("viewer")
    monkeypatch.setattr(lists, "MOST", 10)
    monkeypatch.setattr(QueryAdmin, "list_per_page", 5)
    monkeypatch.setattr(lists.count_up_to, "__defaults__", (10,))
    desk.get(reverse(LIST))
    with CaptureQueriesContext(
        connection,
    ) as asked:
        page = desk.get(reverse(LIST))
    assert page.context["cl"].result_count == 10
    assert "The first 10 are shown" in page.content.decode()
    on_log = [each["sql"] for each in asked if "answers_query" in each["sql"]]
    assert len(on_log) == 2
    assert all("LIMIT" in statement for statement in on_log)
    assert len(asked) < 30  # whatever the number of rows


def test_a_count_that_takes_too_long_is_given_up(monkeypatch: pytest.MonkeyPatch) -> None:
    caller, _ = factories.key()
    factories.query(caller, "How do I pay?")
    monkeypatch.setattr(lists, "PATIENCE_MS", 1)
    slow = Query.objects.extra(where=["pg_sleep(0.5) IS NOT NULL"])
    assert lists.count_up_to(slow, 7) == 8
    assert lists.count_up_to(Query.objects.all(), 7) == 1
