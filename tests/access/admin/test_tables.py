"""Lists as CSV files: what is shown, in full, of one workspace, harmless in a spreadsheet."""

from __future__ import annotations

import csv
import io
from typing import Any

import pytest
from django.urls import reverse

from apps.access.core.callers import Caller
from tests import desks, factories

pytestmark = pytest.mark.django_db
LONG = "How do I pay " + "very " * 40 + "quickly?"


@pytest.fixture
def caller() -> Caller:
    return factories.key()[0]


def rows(reply: Any) -> list[list[str]]:
    assert reply.status_code == 200
    assert reply["Content-Type"] == "text/csv; charset=utf-8"
    return list(csv.reader(io.StringIO(desks.whole(reply))))


def test_every_list_is_a_file(caller: Caller) -> None:
    here = desks.sit()
    for name in desks.fill(caller, "tea"):
        assert reverse(f"admin:{name}_csv") in here.get(reverse(f"admin:{name}_changelist")).content.decode()
        head, *lines = rows(here.get(reverse(f"admin:{name}_csv")))
        assert head and lines, name
        assert all(len(line) == len(head) for line in lines), name
        assert not any("<" in cell for line in lines for cell in line), name


def test_texts_are_whole_and_never_a_formula(caller: Caller) -> None:
    factories.golden(caller, LONG, "By card.")
    factories.golden(caller, "=1+1", "Two.")
    told = {line[0] for line in rows(desks.sit().get(reverse("admin:answers_goldenanswer_csv")))}
    assert {LONG, "'=1+1"} <= told


def test_a_file_is_filtered_like_its_list(caller: Caller) -> None:
    factories.golden(caller, "How do I pay?", "By card.")
    factories.golden(caller, "Where are you?", "Here.")
    found = rows(desks.sit().get(reverse("admin:answers_goldenanswer_csv") + "?q=pay"))
    assert [line[0] for line in found[1:]] == ["How do I pay?"]


def test_a_file_holds_nothing_of_another_workspace(caller: Caller) -> None:
    factories.golden(factories.key("umbrella")[0], "A secret?", "Yes.")
    assert len(rows(desks.sit().get(reverse("admin:answers_goldenanswer_csv")))) == 1


def test_who_may_not_see_a_list_gets_no_file_of_it(caller: Caller) -> None:
    assert desks.sit("viewer").get(reverse("admin:access_apikey_csv")).status_code == 403
