"""One question, end to end: API, database, judge worker, promotion, served again."""

import json
import urllib.request

import pytest

from apps.answers import services
from apps.answers.models import Verification
from tests import factories
from tests.conftest import Site, wait_for

pytestmark = pytest.mark.stack


def ask(site: Site, secret: str, question: str) -> dict[str, object]:
    request = urllib.request.Request(
        f"{site.url}/api/v1/answers/query/",
        data=json.dumps({"question": question}).encode(),
        headers={"Authorization": f"Bearer {secret}", "Content-Type": "application/json"},
    )
    with urllib.request.urlopen(request, timeout=30) as reply:
        return dict(json.load(reply))


def test_a_near_miss_is_judged_by_the_worker_promoted_by_a_curator_and_then_served(site: Site) -> None:
    caller, secret = factories.key()
    golden = factories.golden(caller, "How do I reset my password?", "Open Settings, then Security.")
    site.start_web()
    site.start_worker("judge")

    first = ask(site, secret, "I forgot my password, what now?")
    assert (first["outcome"], first["answer"], first["grey"]) == ("miss", None, True)

    row = wait_for(lambda: Verification.objects.filter(pk=first["verification"], status="done").first(), 40)
    assert row.verdict == "UNSURE"  # the offline judge has no labels yet

    services.override(caller, row, "APPROVE", "same intent")
    again = ask(site, secret, "i forgot my password, WHAT now?")
    assert (again["outcome"], again["answer"]) == ("dynamic_hit", "Open Settings, then Security.")
    assert again["golden"] == {"id": str(golden.pk), "version": 1, "question": "How do I reset my password?"}
