"""The desk in a real Chromium: a pair is decided by one key, and everybody can read every page."""

from __future__ import annotations

from typing import Any

import pytest
from axe_playwright_python.sync_playwright import Axe  # type: ignore[import-untyped]
from django.urls import reverse

from apps.access.core.callers import Caller
from apps.access.models import User
from apps.answers.models import Entry, GoldenAnswer, Verification
from tests import desks, factories
from tests.conftest import Site, wait_for

pytestmark = [pytest.mark.browser, pytest.mark.django_db(transaction=True)]
REVIEW = "/admin/answers/verification/review/"


@pytest.fixture
def caller() -> Caller:
    caller, _ = factories.key()
    user: User = factories.member("acme", "owner")
    user.is_staff = True
    user.set_password("acme")
    user.save()
    return caller


def pairs(caller: Caller, *questions: str) -> list[Verification]:
    golden = factories.golden(caller, "How do I pay?", "By card.")
    told = {"status": "done", "verdict": "UNSURE", "judged_by": "human:1"}
    return [
        factories.verification(golden, question, similarity=0.9 - number / 10, **told)
        for number, question in enumerate(questions)
    ]


def opened(page: Any, site: Site, path: str) -> None:
    page.goto(f"{site.url}/admin/login/?next={path}")
    page.fill("[name=username]", "ada")
    page.fill("[name=password]", "acme")
    page.press("[name=password]", "Enter")
    page.wait_for_selector("#main")


def test_a_review_is_decided_by_pressing_a_key(caller: Caller, site: Site, page: Any) -> None:
    first, second, third = pairs(caller, "ways of paying", "paying by cheque", "refunds")
    site.start_web()
    opened(page, site, REVIEW)
    page.wait_for_selector("#pair >> text=ways of paying")
    page.keyboard.press("j")
    page.wait_for_selector("#pair >> text=paying by cheque")
    page.keyboard.press("k")
    page.wait_for_selector("#pair >> text=ways of paying")
    page.keyboard.press("a")
    page.wait_for_selector("#said >> text=Approved. 2 are left.")
    assert page.evaluate("document.activeElement.id") == "pair-title"
    page.keyboard.press("r")
    page.wait_for_selector("#said >> text=Rejected. 1 is left.")
    page.fill("#reason", "a rare case")
    assert page.locator("#pair").get_by_text("refunds").is_visible()
    page.press("#reason", "Escape")
    page.keyboard.press("u")
    page.wait_for_selector("#said >> text=Left open. 0 are left.")
    verdicts = [Verification.objects.get(pk=row.pk).verdict for row in (first, second, third)]
    assert verdicts == ["APPROVE", "REJECT", "UNSURE"]
    assert Verification.objects.get(pk=third.pk).reason == "a rare case"
    assert Entry.objects.get().verification_id == first.pk
    assert desks.audited("overrode with APPROVE")


def test_a_pair_can_be_decided_in_the_moment_it_is_shown(caller: Caller, site: Site, page: Any) -> None:
    _, second = pairs(caller, "ways of paying", "paying by cheque")
    site.start_web()
    opened(page, site, REVIEW)
    page.evaluate(
        """new MutationObserver((changes, observer) => {
            observer.disconnect();
            document.querySelector("#pair [data-key=a]").click();
        }).observe(document.body, {childList: true, subtree: true})"""
    )
    page.keyboard.press("j")
    page.wait_for_selector("#said >> text=Approved. 1 is left.")
    second.refresh_from_db()
    assert second.verdict == "APPROVE"


def test_keys_can_be_switched_off(caller: Caller, site: Site, page: Any) -> None:
    (row,) = pairs(caller, "ways of paying")
    site.start_web()
    opened(page, site, REVIEW)
    page.uncheck("#keys")
    page.keyboard.press("a")
    page.click("button:has-text('Reject')")
    page.wait_for_selector("#said >> text=Rejected")
    row.refresh_from_db()
    assert row.verdict == "REJECT"


def test_an_answer_is_published_by_mouse(caller: Caller, site: Site, page: Any) -> None:
    factories.namespace(caller, four_eyes=False)
    site.start_web()
    opened(page, site, reverse("admin:answers_goldenanswer_add"))
    page.fill("[name=question]", "How do I pay?")
    page.fill("[name=answer]", "By card.")
    page.click("[name=_save]")
    golden = wait_for(GoldenAnswer.objects.first)
    page.goto(site.url + reverse("admin:answers_goldenanswer_change", args=[golden.pk]))
    for button, said in (
        ("Submit for review", "Submitted for review"),
        ("Approve", "Approved."),
        ("Publish", "Published:"),
    ):
        page.click(f".desk-acts button:has-text('{button}')")
        page.wait_for_selector(f"text={said}")
    assert GoldenAnswer.objects.get().status == "published"
    page.click("summary:has-text('Retire')")
    page.click("text=Yes, do it")
    page.wait_for_selector("text=Retired:")


@pytest.mark.parametrize("scheme", ["light", "dark"])
@pytest.mark.parametrize("width", [1280, 360])
def test_axe_finds_nothing_serious_and_nothing_runs_over(
    caller: Caller, site: Site, page: Any, scheme: str, width: int
) -> None:
    pairs(caller, "ways of paying")
    rows = desks.fill(caller, "gold")
    site.start_web()
    page.emulate_media(color_scheme=scheme)
    page.set_viewport_size({"width": width, "height": 800})
    opened(page, site, "/admin/")
    for path in (
        "/admin/", REVIEW, "/admin/answers/goldenanswer/", "/admin/answers/goldenanswer/add/",
        reverse("admin:answers_goldenanswer_change", args=[rows["answers_goldenanswer"].pk]),
        reverse("admin:answers_namespace_change", args=[rows["answers_namespace"].pk]),
        reverse("admin:answers_replay_change", args=[rows["answers_replay"].pk]),
        "/admin/answers/goldenanswer/import/", "/admin/answers/query/", "/admin/access/apikey/add/",
    ):  # fmt: skip
        page.goto(site.url + path)
        found = Axe().run(page).response["violations"]
        serious = [
            (each["id"], each["nodes"][0]["html"][:200]) for each in found if each["impact"] in {"serious", "critical"}
        ]
        assert (path, serious) == (path, [])
        over = page.evaluate("document.documentElement.scrollWidth - innerWidth")
        assert (path, over) == (path, 0)
