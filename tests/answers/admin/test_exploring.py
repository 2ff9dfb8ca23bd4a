"""The pages to look before changing: tried in a real Chromium, and safe against what people type."""

from __future__ import annotations

from typing import Any

import pytest
from django.urls import reverse

from apps.access.core.callers import Caller
from apps.answers.models import GoldenAnswer, Namespace
from tests import desks, factories
from tests.conftest import Site

TRY = reverse("admin:answers_goldenanswer_try")
UNANSWERED = reverse("admin:answers_goldenanswer_unanswered")
COVERAGE = reverse("admin:answers_goldenanswer_coverage")
THRESHOLDS = reverse("admin:answers_namespace_thresholds")


@pytest.fixture
def caller() -> Caller:
    caller, _ = factories.key()
    factories.golden(caller, "How do I reset my password?", "Open Settings.")
    return caller


@pytest.mark.django_db
def test_a_hostile_question_stays_text_and_a_broken_one_is_told(caller: Caller) -> None:
    desk = desks.sit("viewer")
    page = desk.get(TRY, {"question": "<script>alert(1)</script>"}).content.decode()
    assert "<script>alert(1)" not in page
    assert "&lt;script&gt;alert(1)" in page
    assert desk.get(TRY, {"question": "a\0b"}).status_code == 200


@pytest.mark.django_db
def test_pages_show_nothing_of_another_workspace(caller: Caller) -> None:
    other, _ = factories.key("other")
    factories.golden(other, "What is the secret recipe?", "Sugar.")
    factories.query(other, "where is the secret", "miss", s_static=0.6)
    desk = desks.sit("owner")
    for path in (TRY + "?question=What is the secret recipe?", UNANSWERED, THRESHOLDS, COVERAGE):
        page = desk.get(path).content.decode()
        assert "Sugar." not in page
        assert "where is the secret" not in page


@pytest.mark.django_db
def test_a_group_of_misses_leads_to_a_draft_with_its_wordings(caller: Caller) -> None:
    for question in ("where is my parcel", "where is my parcel", "where's my parcel?"):
        factories.query(caller, question, "miss")
    desk = desks.sit("curator")
    rows = desk.get(UNANSWERED).context["rows"]
    form = desk.get(rows[0][1]).content.decode()
    assert "where is my parcel" in form
    assert "where&#x27;s my parcel?" in form


@pytest.mark.django_db
def test_only_operators_put_thresholds_in_force_and_bad_ones_are_told(caller: Caller) -> None:
    factories.query(caller, "x", "miss", s_static=0.6)
    values = {"namespace": "default", "tau_static": "0.91", "sigma_min": "0.6"}
    assert desks.sit("curator").post(THRESHOLDS, values).status_code == 403
    desk = desks.sit("operator")
    desk.post(THRESHOLDS, values)
    assert Namespace.objects.get(name="default").policy["tau_static"] == 0.91
    said = desks.messages(desk.post(THRESHOLDS, {**values, "tau_static": "high"}, follow=True))
    assert "numbers from 0 to 1" in said
    said = desks.messages(desk.post(THRESHOLDS, {**values, "sigma_min": "0.99"}, follow=True))
    assert "sigma_min" in said


@pytest.mark.browser
@pytest.mark.django_db(transaction=True)
def test_thresholds_are_dragged_and_a_question_is_tried_by_keyboard(site: Site, page: Any) -> None:
    caller, _ = factories.key()
    factories.golden(caller, "How do I reset my password?", "Open Settings.")
    user: Any = factories.member("acme", "owner")
    user.is_staff = True
    user.set_password("acme")
    user.save()
    for number in range(20):
        factories.query(caller, f"asked {number}", "miss", s_static=0.5 + number / 50)
    site.start_web()
    page.goto(f"{site.url}/admin/login/?next={THRESHOLDS}")
    page.fill("[name=username]", "ada")
    page.fill("[name=password]", "acme")
    page.press("[name=password]", "Enter")
    page.wait_for_selector("#bars i.served", state="attached")
    before = page.text_content("#served")
    page.focus("#tau_static")
    for _ in range(20):
        page.keyboard.press("ArrowLeft")
    page.wait_for_function(f"document.querySelector('#served').textContent !== {before!r}")
    assert page.text_content("output[for=tau_static]") == "0.65"
    page.click("text=Put in force")
    page.wait_for_selector("text=In force in every process now.")
    assert Namespace.objects.get(name="default").policy["tau_static"] == 0.65

    page.goto(f"{site.url}{TRY}")
    page.wait_for_function("document.activeElement.id === 'question'")
    page.keyboard.type("how can I reset my password")
    page.keyboard.press("Enter")
    page.wait_for_selector("text=Open Settings.")
    assert GoldenAnswer.objects.count() == 1
