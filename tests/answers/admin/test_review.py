"""The review queue: one pair at a time, decided with one press, by the services' rules."""

from __future__ import annotations

from typing import Any

import pytest
from django.test import Client
from django.urls import reverse

from apps.answers.models import Entry, Label, Verification
from apps.answers.services import golden as golden_services
from tests import desks, factories

pytestmark = pytest.mark.django_db
REVIEW = "admin:answers_verification_review"


def queue(*similarities: float) -> list[Verification]:
    caller, _ = factories.key()
    golden = factories.golden(caller, "How do I pay?", "By card.")
    told = {"status": "done", "verdict": "UNSURE", "judged_by": "human:1"}
    return [factories.verification(golden, f"paying {each}", similarity=each, **told) for each in similarities]


def decide(desk: Client, row: Verification, verdict: str, **more: Any) -> Any:
    return desk.post(reverse("admin:answers_verification_decide", args=[row.pk]), {"verdict": verdict}, **more)


def test_the_most_informative_pair_comes_first_with_everything_to_judge_it() -> None:
    queue(0.6, 0.8)
    page = desks.sit("curator").get(reverse(REVIEW))
    text = page.content.decode()
    assert page.context["pair"].row.similarity == 0.8
    assert (page.context["number"], page.context["waiting"]) == (1, 2)
    assert "By card." in text and "0.800" in text and "Both questions want the same thing" in text


def test_approving_promotes_teaches_and_leaves_a_trace() -> None:
    first, second = queue(0.8, 0.6)
    desk = desks.sit("curator")
    reply = decide(desk, first, "APPROVE")
    assert reply.url.endswith(f"at={second.pk}")
    assert Entry.objects.get().verification_id == first.pk
    assert Label.objects.get().same is True
    assert desks.audited("overrode with APPROVE")
    page = desk.get(reverse(REVIEW))
    assert (page.context["waiting"], page.context["done"]) == (1, 1)
    assert "Approved. 1 is left." in desks.messages(page)


def test_a_script_gets_the_next_pair_alone() -> None:
    first, second = queue(0.8, 0.6)
    reply = decide(desks.sit("curator"), first, "REJECT", HTTP_HX_REQUEST="true")
    text = reply.content.decode()
    assert reply.context["pair"].row.pk == second.pk
    assert "<html" not in text and 'hx-swap-oob="true">Rejected. 1 is left.' in text


def test_what_a_person_leaves_open_waits_for_others_only() -> None:
    (row,) = queue(0.8)
    desk, other = desks.sit("curator"), desks.sit("curator", username="eve")
    decide(desk, row, "UNSURE")
    assert desk.get(reverse(REVIEW)).context["pair"] is None
    assert other.get(reverse(REVIEW)).context["pair"].row.pk == row.pk


def test_a_decision_can_be_looked_at_again_and_turned_round() -> None:
    (row,) = queue(0.8)
    desk = desks.sit("curator")
    decide(desk, row, "APPROVE")
    page = desk.get(reverse("admin:answers_verification_change", args=[row.pk]), follow=True)
    assert page.context["pair"].row.pk == row.pk
    decide(desk, row, "REJECT")
    assert not Entry.objects.exists()
    assert Label.objects.get().same is False


def test_moving_on_and_back_decides_nothing() -> None:
    rows = queue(0.9, 0.8, 0.7)
    desk = desks.sit("curator")
    page = desk.get(reverse(REVIEW) + f"?at={rows[1].pk}")
    assert (page.context["previous"], page.context["next"]) == (rows[0].pk, rows[2].pk)
    assert set(Verification.objects.values_list("verdict", flat=True)) == {"UNSURE"}


def test_an_approval_that_promotes_nothing_says_why() -> None:
    (row,) = queue(0.8)
    caller = factories.key()[0]
    golden_services.retire(caller, row.golden_id)
    desk = desks.sit("curator")
    assert "Another version is in force" in desk.get(reverse(REVIEW)).content.decode()
    decide(desk, row, "APPROVE")
    assert "no longer in force" in desks.messages(desk.get(reverse(REVIEW)))


def test_viewers_and_operators_read_and_do_not_decide() -> None:
    (row,) = queue(0.8)
    for role in ("viewer", "operator"):
        desk = desks.sit(role)
        assert 'value="APPROVE"' not in desk.get(reverse(REVIEW)).content.decode()
        assert decide(desk, row, "APPROVE").status_code == 403
    assert not Entry.objects.exists()


def test_nonsense_is_no_verdict() -> None:
    (row,) = queue(0.8)
    desk = desks.sit("curator")
    decide(desk, row, "MAYBE")
    assert "A verdict is" in desks.messages(desk.get(reverse(REVIEW)))
    row.refresh_from_db()
    assert row.judged_by == "human:1"
    assert desk.get(reverse("admin:answers_verification_decide", args=[row.pk])).status_code == 405
