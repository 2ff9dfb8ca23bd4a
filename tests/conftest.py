"""Real services for the tests that claim them: PostgreSQL, Valkey, web and worker processes, Chromium."""

from __future__ import annotations

import json
import os
import shutil
import socket
import subprocess
import sys
import time
import urllib.error
import urllib.request
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest
import redis

from config.stack import children, testing
from config.stack.processes import worker

CHROMIUM_FLAGS = [
    "--no-sandbox",
    "--disable-gpu",
    "--disable-quic",
    "--no-first-run",
    "--disable-background-networking",
    "--disable-component-update",
    "--disable-sync",
]


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    """Run browser tests last: from the first one on, Playwright's event loop occupies this thread."""
    items.sort(key=lambda item: "chromium" in getattr(item, "fixturenames", ()))


@pytest.fixture(scope="session")
def valkey() -> Any:
    """This run's Valkey."""
    return testing.valkey()


@pytest.fixture(scope="session")
def django_db_modify_db_settings(valkey: Any) -> None:
    """Start PostgreSQL and Valkey before pytest-django makes the test database."""
    testing.postgres()


@pytest.fixture(autouse=True)
def _forget() -> Iterator[None]:
    """Let no test see what another one left in this process's memory."""
    yield
    from apps.access.services import callers, rates
    from apps.answers.services import policies
    from apps.metrics.services import counting

    counting._counts.take()
    callers._remembered.clear()
    policies._spaces.clear()
    rates.Epoch.heard_at = 0.0


def free_port() -> int:
    """Find a port nobody listens on."""
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        return int(probe.getsockname()[1])


class Site:
    """Web and worker processes of the real site, over the test database."""

    def __init__(self, folder: Path) -> None:
        from django.db import connection

        self.folder = folder
        self.port = free_port()
        self.url = f"http://127.0.0.1:{self.port}"
        self.children: dict[str, subprocess.Popen[bytes]] = {}
        database = connection.settings_dict
        self.environment = {
            "DATABASE_URL": f"postgres://{database['USER']}@/{database['NAME']}?host={database['HOST']}",
            "VALKEY_URL": os.environ["VALKEY_URL"],
            "TOUCHSTONE_VAR": str(testing.VAR),
            "CELERY_BEAT_SCHEDULE": str(folder / "beat"),
        }

    def start(self, name: str, command: list[str]) -> subprocess.Popen[bytes]:
        """Start a process of the site; its output goes to <name>.log."""
        with (self.folder / f"{name}.log").open("ab") as log:
            self.children[name] = children.start(command, output=log, environment=self.environment)
        return self.children[name]

    def start_web(self) -> None:
        """Start the web process and wait until it answers."""
        command = [sys.executable, "-m", "uvicorn", "config.asgi:application", "--port", str(self.port)]
        self.start("web", [*command, "--log-level", "warning"])
        wait_for(self._answers, 60, lambda: (self.folder / "web.log").read_text())

    def start_worker(self, queue: str, *options: str) -> None:
        """Start a Celery worker for one queue."""
        self.start(queue, list(worker(queue, *options).command))

    def kill(self, name: str) -> None:
        """Kill a process the hard way."""
        self.children[name].kill()
        self.children[name].wait()

    def stop(self) -> None:
        """Stop every process."""
        for child in self.children.values():
            children.stop(child)

    def log(self, name: str) -> str:
        """Read what a process printed."""
        return (self.folder / f"{name}.log").read_text()

    def _answers(self) -> bool:
        """Say whether the web process serves and has its embedder; the workers may still be missing."""
        try:
            with urllib.request.urlopen(f"{self.url}/readyz", timeout=60) as reply:
                parts = json.load(reply)["parts"]
        except urllib.error.HTTPError as reply:
            parts = json.load(reply)["parts"]
        except OSError:
            return False
        return parts["embedder"] == "ok"


def wait_for(condition: Callable[[], Any], seconds: float = 20, why: Callable[[], str] = lambda: "") -> Any:
    """Wait until a condition holds and give its value; fails after `seconds`."""
    deadline = time.monotonic() + seconds
    while time.monotonic() < deadline:
        if value := condition():
            return value
        time.sleep(0.05)
    raise AssertionError(f"this did not happen within {seconds} s: {why() or condition}")


@pytest.fixture
def site(transactional_db: None, valkey: Any, tmp_path: Path) -> Iterator[Site]:
    """The real site over the test database; start its parts with start_web() and start_worker(queue)."""
    with redis.Redis.from_url(valkey.url) as client:
        client.flushdb()  # messages and counts of earlier tests
    running = Site(tmp_path)
    yield running
    running.stop()


@pytest.fixture(scope="session")
def chromium() -> Iterator[Any]:
    """A real headless Chromium: the system's, else Playwright's own; missing, it fails in CI and skips elsewhere."""
    from playwright.sync_api import Error, sync_playwright

    found = shutil.which("chromium") or shutil.which("chromium-browser") or shutil.which("google-chrome")
    os.environ["DJANGO_ALLOW_ASYNC_UNSAFE"] = "1"  # Playwright keeps an event loop in this thread
    with sync_playwright() as playwright:
        try:
            browser = playwright.chromium.launch(executable_path=found, args=CHROMIUM_FLAGS)
        except Error as problem:
            if os.environ.get("CI"):
                raise
            pytest.skip(f"no Chromium here: {problem}")
        yield browser
        browser.close()


@pytest.fixture
def page(chromium: Any) -> Iterator[Any]:
    """A fresh page; a test fails when the page logs an error."""
    context = chromium.new_context(viewport={"width": 1280, "height": 900})
    page = context.new_page()
    page.set_default_timeout(15_000)
    errors: list[str] = []
    page.on("pageerror", lambda error: errors.append(str(error)))
    page.on("console", lambda message: errors.append(message.text) if message.type == "error" else None)
    yield page
    context.close()
    assert errors == []
