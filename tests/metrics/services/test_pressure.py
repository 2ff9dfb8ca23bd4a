"""Work off the path rests while people wait for answers, and only then."""

from __future__ import annotations

import pytest
import redis

from apps.access import services as access
from apps.metrics import services as metrics
from apps.metrics.services import pressure
from tests import factories

pytestmark = pytest.mark.django_db


@pytest.fixture(autouse=True)
def _afresh(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(pressure, "_known", [-1e9, 0.0])


def asked(times: int) -> None:
    caller, _ = factories.key()
    for _ in range(times):
        metrics.observe(caller.workspace_id, "answers", "default", 5.0)
    metrics.flush()


def test_nobody_asks_so_nobody_rests() -> None:
    asked(1)
    assert metrics.rest_s(0.01) == 0.0


def test_while_people_ask_a_tenth_of_the_time_is_work() -> None:
    asked(100)
    assert metrics.rest_s(0.01) == pytest.approx(0.09)
    assert metrics.rest_s(10.0) == pressure.LONGEST_S


def test_without_valkey_nobody_rests(monkeypatch: pytest.MonkeyPatch) -> None:
    asked(100)
    gone = redis.Redis.from_url("unix:///nowhere/valkey.sock")
    monkeypatch.setattr(access, "valkey", lambda: gone)
    assert metrics.rest_s(0.01) == 0.0
