"""`manage.py screenshots`: take the pictures of docs/ from the running site, in light, dark and at phone width."""

from __future__ import annotations

import shutil
from argparse import ArgumentParser
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from django.conf import settings
from django.core.management.base import BaseCommand, CommandError
from playwright.sync_api import sync_playwright

from config.management.commands.sample import read_environment

WIDE, PHONE = (1280, 860), (390, 844)
FLAGS = ["--no-sandbox", "--disable-gpu", "--disable-background-networking", "--hide-scrollbars"]
SETTLE_MS = 1_500  # live numbers and plots arrive by then


@dataclass(frozen=True, slots=True)
class Picture:
    """One picture: what is shown, and how; of a list with `first`, the page of its first row."""

    name: str
    path: str
    size: tuple[int, int] = WIDE
    dark: bool = False
    first: bool = False


PICTURES = (
    Picture("dashboard", "/"),
    Picture("dashboard-phone", "/", PHONE),
    Picture("desk", "/admin/"),
    Picture("golden-dark", "/admin/answers/goldenanswer/", dark=True),
    Picture("review", "/admin/answers/verification/review/"),
    Picture("unanswered", "/admin/answers/goldenanswer/unanswered/"),
    Picture("try", "/admin/answers/goldenanswer/try/?question=how+can+I+get+my+password+back"),
    Picture("thresholds", "/admin/answers/namespace/thresholds/"),
    Picture("coverage", "/admin/answers/goldenanswer/coverage/"),
    Picture("namespace", "/admin/answers/namespace/", first=True),
    Picture("job", "/admin/inference/job/", first=True),
    Picture("network", "/admin/inference/network/", first=True),
    Picture("video", "/admin/segments/video/", first=True),
    Picture("edge", "/admin/segments/edge/", first=True),
    Picture("predictors", "/admin/segments/predictor/"),
    Picture("weights", "/admin/segments/tuning/"),
    Picture("hooks-dark", "/admin/metrics/hook/add/", dark=True),
    Picture("runbooks", "/runbooks/"),
)


class Command(BaseCommand):
    """Sign in to the running site and take every picture."""

    help = "Take the pictures of docs/ from the running site."

    def add_arguments(self, parser: ArgumentParser) -> None:
        """Declare the options."""
        parser.add_argument("--to", type=Path, default=settings.BASE_DIR / "docs", help="folder of the pictures")
        parser.add_argument("--namespace", default="", help="shown where a page is about one namespace")
        parser.add_argument("--only", action="append", help="only this picture; may be repeated")

    def handle(self, *args: Any, **options: Any) -> None:
        """Take them."""
        known = read_environment(settings.VAR / "demo.env")
        if "TOUCHSTONE_URL" not in known:
            raise CommandError("There is no var/demo.env: start the site first (make up).")
        with sync_playwright() as playwright:
            browser = playwright.chromium.launch(executable_path=shutil.which("chromium"), args=FLAGS)
            for picture in PICTURES:
                if not options["only"] or picture.name in options["only"]:
                    _take(browser, picture, known, options)
                    self.stdout.write(f"{picture.name}.png")
            browser.close()


def _take(browser: Any, picture: Picture, known: dict[str, str], options: dict[str, Any]) -> None:
    width, height = picture.size
    scheme = "dark" if picture.dark else "light"
    context = browser.new_context(viewport={"width": width, "height": height}, color_scheme=scheme)
    page = context.new_page()
    url = known["TOUCHSTONE_URL"]
    page.goto(f"{url}/admin/login/?next=/healthz")
    page.fill("[name=username]", known["TOUCHSTONE_ADMIN_USER"])
    page.fill("[name=password]", known["TOUCHSTONE_ADMIN_PASSWORD"])
    page.press("[name=password]", "Enter")
    page.wait_for_url("**/healthz")
    mark = "&" if "?" in picture.path else "?"
    about = f"{mark}namespace={options['namespace']}" if options["namespace"] else ""
    page.goto(f"{url}{picture.path}{about}")
    if picture.first:
        page.click("#result_list tbody th a")
    page.wait_for_timeout(SETTLE_MS)
    page.screenshot(path=options["to"] / f"{picture.name}.png")
    context.close()
