"""The dashboard in a real Chromium: it lives, it can be read by everybody, and it says when it does not live."""

from __future__ import annotations

import json
import time
from datetime import UTC, datetime
from typing import Any

import pytest
from axe_playwright_python.sync_playwright import Axe  # type: ignore[import-untyped]
from django.contrib.sessions.models import Session

from apps.access.core.callers import Caller
from apps.access.models import User
from apps.metrics import services
from apps.metrics.models import Tally
from tests import factories
from tests.conftest import Site, wait_for

pytestmark = [pytest.mark.browser, pytest.mark.django_db(transaction=True)]


@pytest.fixture
def caller() -> Caller:
    caller, _ = factories.key()
    user: User = factories.member("acme", "viewer")
    user.is_staff = True
    user.set_password("acme")
    user.save()
    return caller


def ask(caller: Caller, subject: str = "default", **counts: int) -> None:
    for name, number in counts.items():
        services.count(caller.workspace_id, "answers", subject, name.replace("__", ":"), number)
    services.observe(caller.workspace_id, "answers", subject, 5.0)
    services.flush()


def opened(page: Any, site: Site, path: str = "/") -> None:
    page.goto(f"{site.url}/admin/login/?next={path}")
    page.fill("[name=username]", "ada")
    page.fill("[name=password]", "acme")
    page.press("[name=password]", "Enter")
    page.wait_for_selector("#state[data-state=live]")


def test_the_numbers_follow_what_is_counted(caller: Caller, site: Site, page: Any) -> None:
    site.start_web()
    opened(page, site)
    assert page.text_content("#golden") == "–"
    ask(caller, static_hit=6, miss=2, origin__golden=6, guard__numbers=3, verdict__APPROVE=3, verdict__REJECT=1)
    page.wait_for_function("document.querySelector('#golden').textContent === '75.0%'")
    assert page.text_content("#hits") == "75.0%"
    page.wait_for_selector("#subjects button:text('default')")
    ask(caller, "billing", miss=8)
    page.wait_for_function("document.querySelector('#golden').textContent === '37.5%'")
    page.click("#subjects button:text('billing')")
    page.wait_for_function("document.querySelector('#golden').textContent === '0.0%'")
    assert "namespace=billing" in page.url


def test_everything_is_reached_by_keyboard(caller: Caller, site: Site, page: Any) -> None:
    ask(caller, static_hit=6, origin__golden=6)
    site.start_web()
    opened(page, site)
    page.focus('[data-range="15m"]')
    page.keyboard.press("Tab")
    page.keyboard.press("Enter")
    assert page.get_attribute('[data-range="1h"]', "aria-pressed") == "true"
    page.wait_for_selector("#plot-share canvas")
    page.focus("#plot-share")

    def value() -> str | None:
        page.keyboard.press("ArrowLeft")  # once more where the hour's numbers came only now
        return page.text_content("#legend-share b")  # type: ignore[no-any-return]

    wait_for(value, 30)


@pytest.mark.parametrize("scheme", ["light", "dark"])
@pytest.mark.parametrize("width", [1280, 360])
def test_axe_finds_nothing_and_nothing_runs_over(
    caller: Caller, site: Site, page: Any, scheme: str, width: int
) -> None:
    ask(caller, static_hit=6, miss=2, origin__golden=6, guard__numbers=3, verdict__APPROVE=3)
    ask(caller, "a-namespace-with-quite-a-long-name-" * 3, miss=2)
    page.set_viewport_size({"width": width, "height": 800})
    page.emulate_media(color_scheme=scheme)
    site.start_web()
    opened(page, site)
    page.wait_for_selector("#subjects tbody tr")
    page.wait_for_selector("#plot-latency canvas")
    found = Axe().run(page).response["violations"]
    assert [(one["id"], [node["html"][:120] for node in one["nodes"]]) for one in found] == []
    assert page.evaluate("document.documentElement.scrollWidth") <= width


def test_a_chosen_theme_is_kept(caller: Caller, site: Site, page: Any) -> None:
    site.start_web()
    opened(page, site)
    page.emulate_media(color_scheme="light")
    page.click("#theme")
    page.reload()
    page.wait_for_selector("#state[data-state=live]")
    assert page.evaluate("document.documentElement.dataset.theme") == "dark"


def test_nothing_is_loaded_from_elsewhere(caller: Caller, site: Site, page: Any) -> None:
    asked: list[str] = []
    page.on("request", lambda request: asked.append(request.url))
    site.start_web()
    opened(page, site)
    page.wait_for_selector("#plot-share canvas")
    assert [url for url in asked if not url.startswith((site.url, "data:"))] == []


def test_a_page_that_lost_its_server_says_so_and_comes_back(caller: Caller, site: Site, chromium: Any) -> None:
    page = chromium.new_context().new_page()  # a lost server is an error in the console, rightly
    site.start_web()
    opened(page, site)
    site.kill("web")
    page.wait_for_selector("#state[data-state=stale]")
    assert "Trying again" in page.text_content("#state")
    site.start_web()
    page.wait_for_selector("#state[data-state=live]", timeout=30_000)
    page.context.close()


def test_who_signs_out_elsewhere_is_told(caller: Caller, site: Site, chromium: Any) -> None:
    page = chromium.new_context().new_page()
    site.start_web()
    opened(page, site)
    Session.objects.all().delete()
    site.kill("web")
    site.start_web()
    page.wait_for_selector("#state[data-state=out]", timeout=30_000)
    page.context.close()


def test_other_caches_appear_with_their_first_number(caller: Caller, site: Site, page: Any) -> None:
    site.start_web()
    opened(page, site)
    assert page.is_hidden("#inference")
    services.count(caller.workspace_id, "inference", "resnet", "reused", 3)
    services.count(caller.workspace_id, "inference", "resnet", "dense", 1)
    services.flush()
    page.wait_for_selector("#inference:visible")
    page.wait_for_function("document.querySelector('#inference .big').textContent === '75.0%'")
    assert page.is_hidden("#segments")


def test_plots_and_tables_are_kept_as_files(caller: Caller, site: Site, page: Any) -> None:
    ask(caller, "=1+1", static_hit=6, origin__golden=6)
    site.start_web()
    opened(page, site)
    page.wait_for_selector("#subjects tbody tr")
    with page.expect_download() as kept:
        page.click("[aria-label='PNG: Static-origin share']")
    assert kept.value.suggested_filename.startswith("static-origin-share-")
    assert kept.value.path().read_bytes().startswith(b"\x89PNG")
    with page.expect_download() as kept:
        page.click("[aria-label='CSV: Namespaces']")
    head, line = kept.value.path().read_text("utf-8-sig").splitlines()
    assert head.startswith("Namespace,Questions,Golden")
    assert line.startswith("'=1+1,6,100.0%")


def test_alarms_come_first_and_hostile_names_stay_text(caller: Caller, site: Site, page: Any) -> None:
    hostile = "<img src=x onerror=alert(1)>"
    ask(caller, hostile, miss=1)
    site.start_web()
    opened(page, site)
    page.wait_for_selector("#alarms li:has-text('No sign of life from clock, judge, infer, prefetch and train')")
    page.wait_for_selector("#subjects tbody tr")
    assert page.text_content("#subjects tbody th") == hostile
    assert json.loads(page.evaluate("JSON.stringify(document.querySelectorAll('main img').length)")) == 0


def test_the_change_tells_of_the_same_steps_as_the_plot(caller: Caller, site: Site, page: Any) -> None:
    step = time.time() // 7_200 * 7_200
    for ago_s, golden in ((6 * 86_400, 10), (7_200, 90)):
        at = datetime.fromtimestamp(step - ago_s, UTC)
        counts = {"static_hit": golden, "origin:golden": golden, "miss": 100 - golden}
        rows = {"workspace_id": caller.workspace_id, "cache": "answers", "subject": "default", "counts": counts}
        Tally.objects.create(**rows, minute=at, span_s=Tally.HOUR)
    ask(caller, miss=50_000)  # in the running step, which the plot leaves out
    site.start_web()
    opened(page, site, "/?range=7d")
    page.wait_for_function("document.querySelector('#change').textContent !== ''")
    assert page.text_content("#change") == "▲ 80.0 points in the last 7d"
