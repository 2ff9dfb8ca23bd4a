"""The documents keep up with the product: every setting is described, every link leads somewhere, commands work."""

from __future__ import annotations

import os
import re
import subprocess
import sys
from dataclasses import fields
from pathlib import Path

import pytest

from apps.answers.core.policy import Policy
from apps.answers.models import Query
from tests import factories
from tests.conftest import Site

ROOT = Path(__file__).resolve().parents[2]
DOCUMENTS = [ROOT / "README.md", *sorted((ROOT / "docs").rglob("*.md"))]
READ = re.compile(r'environment\.(?:text|integer|flag|number|names)\(\s*"([A-Z_]+)"')
LINK = re.compile(r"\]\(([^)#\s]+)(?:#[^)]*)?\)")
BLOCK = re.compile(r"^```(\w*)\n(.*?)^```", re.M | re.S)
HAND_SET = {"CELERY_BEAT_SCHEDULE", "DEBUG", "EDGE_ORIGIN", "EDGE_FOLDER"}  # by the stack itself, or for its developers


def text(path: Path) -> str:
    return path.read_text(encoding="utf-8")


def test_every_setting_of_the_environment_is_described() -> None:
    code = [path for folder in ("platform", "apps", "workers") for path in (ROOT / folder).rglob("*.py")]
    names = {name for path in code for name in READ.findall(text(path))} - HAND_SET
    told = text(ROOT / "docs" / "operators.md")
    assert "ANSWERS_UPSTREAM_URL" in names
    missing = [name for name in sorted(names) if f"`{name}`" not in told and not shortened(name, told)]
    assert not missing, " ".join(missing)


def shortened(name: str, told: str) -> bool:
    """A row may say `ANSWERS_JUDGE_URL`, `_KEY`, `_MODEL`: the first name in full, the others by their ends."""
    for row in told.splitlines():
        full, *others = re.findall(r"`(_?[A-Z][A-Z_]+)`", row.partition("|")[2].partition("|")[0]) or [""]
        parts, ends = full.split("_"), [other for other in others if other.startswith("_")]
        if any(name == "_".join(parts[:count]) + end for end in ends for count in range(1, len(parts))):
            return True
    return False


def test_every_setting_of_a_policy_is_described() -> None:
    told = text(ROOT / "docs" / "operators.md")
    names = [item.name for item in fields(Policy)]
    assert [name for name in names if f"`{name}`" not in told and name != "verifications_per_day"] == []


@pytest.mark.parametrize("path", DOCUMENTS, ids=lambda path: str(path.relative_to(ROOT)))
def test_links_and_pictures_lead_somewhere(path: Path) -> None:
    for link in LINK.findall(text(path)):
        if "://" not in link and not link.startswith("/"):
            assert (path.parent / link).exists(), link


@pytest.mark.stack
def test_the_commands_for_clients_work_as_they_are_written(site: Site) -> None:
    caller, secret = factories.key()
    factories.golden(caller, "How do I reset my password?", "Open Settings.")
    site.start_web()
    shell = {**os.environ, "TOUCHSTONE_URL": site.url, "TOUCHSTONE_KEY": secret}
    ran = 0
    for _kind, block in BLOCK.findall(text(ROOT / "README.md")):
        if "curl" in block and "answers/query" in block:
            command = block.replace(". var/demo.env\n", "").replace("curl -s", "curl -sf")
            done = subprocess.run(["bash", "-c", command], env=shell, capture_output=True, text=True, check=False)
            assert done.returncode == 0, done.stderr
            assert '"static_hit"' in done.stdout
            ran += 1
        if "import openai" in block:
            code = block.replace("http://127.0.0.1:8000", site.url).replace('"…"', f'"{secret}"')
            done = subprocess.run([sys.executable, "-c", code], env=shell, capture_output=True, text=True, check=False)
            assert done.returncode == 0, done.stderr
            ran += 1
    assert ran == 2
    assert Query.objects.filter(outcome="static_hit").count() == 2
