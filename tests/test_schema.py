"""The API's schema, checked from outside against the running server."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import httpx
import pytest

from tests import factories
from tests.conftest import Site

pytestmark = pytest.mark.stack
CHECKS = (
    "not_a_server_error,status_code_conformance,content_type_conformance,response_schema_conformance,"
    "response_headers_conformance,ignored_auth"
)


def test_schemathesis_finds_nothing_against_the_running_server(site: Site, tmp_path: Path) -> None:
    caller, secret = factories.key()
    factories.golden(caller, "How do I reset my password?", "Open Settings.")
    site.start_web()
    command = [
        str(Path(sys.executable).with_name("schemathesis")),
        "run",
        f"{site.url}/api/v1/schema/?format=json",
        *("--header", f"Authorization: Bearer {secret}"),
        *("--checks", CHECKS, "--max-examples", "12", "--workers", "1", "--seed", "7"),
        *("--generation-database", "none", "--request-timeout", "30", "--suppress-health-check", "all", "--no-color"),
        *("--exclude-path-regex", "/(schema|docs)/"),
    ]
    environment = {**os.environ, "SCHEMATHESIS_HOOKS": ""}
    done = subprocess.run(
        command, cwd=tmp_path, capture_output=True, text=True, check=False, timeout=540, env=environment
    )
    assert done.returncode == 0, (
        done.stdout[:6_000] + done.stdout[-3_000:] + done.stderr[-2_000:] + site.log("web")[-3_000:]
    )


def test_the_browsable_docs_need_nothing_from_outside(site: Site) -> None:
    site.start_web()
    page = httpx.get(f"{site.url}/api/v1/docs/").text
    assert "https://" not in page.replace("https://www.w3.org", "")
