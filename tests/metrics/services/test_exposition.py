"""What Prometheus reads."""

from uuid import uuid4

import pytest
from prometheus_client.parser import text_string_to_metric_families

from apps.access import services as access
from apps.metrics import services
from apps.metrics.services import exposition

pytestmark = pytest.mark.django_db


def scraped() -> dict[tuple[str, tuple[tuple[str, str], ...]], float]:
    families = text_string_to_metric_families(exposition.render().decode())
    return {(one.name, tuple(sorted(one.labels.items()))): one.value for family in families for one in family.samples}


def test_totals_add_up_over_workspaces_and_name_none() -> None:
    first, second = uuid4(), uuid4()
    services.count(first, "answers", "hush", "miss", 2)
    services.count(second, "answers", "default", "miss", 3)
    services.flush()
    assert scraped()["touchstone_events_total", (("cache", "answers"), ("name", "miss"))] == 5
    text = exposition.render().decode()
    assert str(first) not in text
    assert "hush" not in text


def test_latencies_are_a_histogram_in_seconds() -> None:
    for milliseconds in (0.05, 4.0, 90.0, 10**7):
        services.observe(uuid4(), "answers", "default", milliseconds)
    services.flush()
    found = scraped()

    def below(edge: str) -> float:
        return found["touchstone_latency_seconds_bucket", (("cache", "answers"), ("le", edge))]

    assert [below(edge) for edge in ("0.0001", "0.01", "0.1", "100.0", "+Inf")] == [1, 2, 3, 3, 4]
    assert not any(dict(labels).get("name", "").startswith("ms") for _, labels in found)


def test_totals_outlive_their_buckets() -> None:
    services.count(uuid4(), "answers", "default", "miss", 2)
    services.flush()
    access.valkey().delete(*access.valkey().keys("touchstone:tally:*"))
    assert scraped()["touchstone_events_total", (("cache", "answers"), ("name", "miss"))] == 2
