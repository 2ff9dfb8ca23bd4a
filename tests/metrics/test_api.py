"""The doors of metrics over HTTP."""

from typing import Any

import pytest
from asgiref.sync import async_to_sync
from django.test import AsyncClient, override_settings

from apps.access.core.callers import Caller
from apps.metrics import services
from apps.metrics.services import health
from tests import factories
from tests.clients import Http

pytestmark = pytest.mark.django_db

URL = "/api/v1/metrics/"


@pytest.fixture
def acme() -> tuple[Caller, Http]:
    caller, secret = factories.key(scopes=("client",))
    return caller, Http(secret)


def miss(caller: Caller, number: int, subject: str = "default") -> None:
    services.count(caller.workspace_id, "answers", subject, "miss", number)
    services.observe(caller.workspace_id, "answers", subject, 8.0)
    services.flush()


def test_a_series_has_counts_and_quantiles(acme: tuple[Caller, Http]) -> None:
    caller, http = acme
    miss(caller, 3)
    found = http.get(f"{URL}?window=5m&step=10s").json()
    assert {name: found[name] for name in ("cache", "subject", "window_s", "step_s")} == {
        "cache": "answers",
        "subject": "",
        "window_s": 300,
        "step_s": 10,
    }
    (point,) = [point for point in found["points"] if point["requests"]]
    assert point["counts"] == {"miss": 3}
    assert (point["hit_share"], point["golden_share"]) == (0, 0)
    assert point["p50"] <= point["p99"] == pytest.approx(8.0, rel=0.26)


def test_a_series_is_narrowed_to_a_namespace(acme: tuple[Caller, Http]) -> None:
    caller, http = acme
    miss(caller, 3)
    miss(caller, 4, "other")
    found = http.get(f"{URL}?subject=other").json()
    assert sum(point["requests"] for point in found["points"]) == 4


def test_long_windows_have_steps_of_a_minute_at_least(acme: tuple[Caller, Http]) -> None:
    assert acme[1].get(f"{URL}?window=6h&step=10s").json()["step_s"] == 60


@pytest.mark.parametrize(
    ("query", "field"),
    [
        ("cache=cookies", "cache"),
        ("window=soon", "window"),
        ("window=0s", "window"),
        ("window=31d", "window"),
        ("window=-5m", "window"),
        ("window=%D9%A5m", "window"),
        ("step=1s", "step"),
        ("step=ten", "step"),
        ("window=30d&step=1m", "step"),
        ("step=99999999s", "step"),
        ("subject=%00", "subject"),
        ("subject=" + "x" * 121, "subject"),
    ],
)
def test_a_value_that_is_not_valid_is_named(acme: tuple[Caller, Http], query: str, field: str) -> None:
    reply = acme[1].get(f"{URL}?{query}")
    assert reply.status_code == 422
    assert [error["field"] for error in reply.json()["errors"]] == [field]


def test_strangers_are_asked_who_they_are() -> None:
    assert Http().get(URL).status_code == 401
    assert Http("ts_wrong").get(URL).status_code == 401


def test_another_workspace_is_not_there(acme: tuple[Caller, Http]) -> None:
    other, _ = factories.key("other")
    miss(other, 5)
    assert acme[1].get(f"{URL}?workspace=other").status_code == 404
    own = acme[1].get(f"{URL}?workspace=acme")
    assert own.status_code == 200
    assert sum(point["requests"] for point in own.json()["points"]) == 0


async def seen_by(user: Any, path: str) -> Any:
    client = AsyncClient()
    await client.aforce_login(user)
    return await client.get(path)


@pytest.mark.parametrize("path", [URL, "/"])
def test_viewers_may_look(acme: tuple[Caller, Http], path: str) -> None:
    reply = async_to_sync(seen_by)(factories.member("acme", "viewer"), path)
    assert reply.status_code == 200


def test_the_page_asks_strangers_to_sign_in() -> None:
    reply = Http().get("/")
    assert reply.status_code == 302
    assert reply.headers["Location"].startswith("/admin/login/")


def test_alive_needs_nothing() -> None:
    assert Http().get("/healthz").json() == {"status": "alive"}


def test_ready_says_which_part_is_not(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(health, "_checks", {})
    services.heartbeat("clock")
    reply = Http().get("/readyz")
    assert (reply.status_code, reply.headers["Retry-After"]) == (503, "5")
    assert reply.json() == {
        "status": "not ready",
        "parts": {"database": "ok", "valkey": "ok", "workers": "no sign of life from judge"},
    }
    services.heartbeat("judge")
    assert Http().get("/readyz").json()["status"] == "ready"


def test_this_machine_may_scrape(acme: tuple[Caller, Http]) -> None:
    miss(acme[0], 3)
    reply = Http().get("/metrics")
    assert reply.status_code == 200
    assert b'touchstone_events_total{cache="answers",name="miss"} 3.0' in reply.content


def test_others_need_the_token_to_scrape() -> None:
    reply = Http().call("GET", "/metrics", headers={"X-Forwarded-For": "203.0.113.9"})
    assert reply.status_code == 401
    with override_settings(METRICS_TOKEN="let-me"):
        assert Http().get("/metrics").status_code == 401
        assert Http("let-mé").get("/metrics").status_code == 401
        assert Http("let-me").get("/metrics").status_code == 200
