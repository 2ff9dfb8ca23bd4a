"""Readiness names what is broken, in plain words that give nothing away."""

import pytest

from apps.access import services as access
from apps.metrics import services
from apps.metrics.services import health

pytestmark = pytest.mark.django_db


@pytest.fixture(autouse=True)
def _no_other_checks(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(health, "_checks", {})


def test_a_silent_worker_is_named() -> None:
    services.heartbeat("clock")
    assert services.readiness() == {"database": "", "valkey": "", "workers": "no sign of life from judge"}
    services.heartbeat("judge")
    assert not any(services.readiness().values())


def test_a_heartbeat_is_forgotten() -> None:
    services.heartbeat("clock")
    assert 0 < access.valkey().ttl("touchstone:beat:clock") <= health.BEATS_S


def test_a_check_that_breaks_is_a_broken_part_and_tells_no_secret() -> None:
    def broken() -> str:
        raise RuntimeError("postgres://user:secret@host")

    services.register_check("embedder", broken)
    assert services.readiness()["embedder"] == "fails (RuntimeError)"


def test_a_check_may_say_what_is_wrong() -> None:
    services.register_check("embedder", lambda: "still loading")
    assert services.readiness()["embedder"] == "still loading"
