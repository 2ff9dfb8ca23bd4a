"""Counters for Prometheus: totals per cache and outcome since Valkey was last emptied."""

from __future__ import annotations

import re
from collections import Counter

from prometheus_client import CollectorRegistry, generate_latest
from prometheus_client.core import CounterMetricFamily, GaugeMetricFamily
from prometheus_client.registry import Collector

from apps.access import services as access
from apps.metrics.services.counting import TOTALS
from apps.metrics.services.health import readiness

NAME = re.compile(r"[^a-zA-Z0-9_:.-]")


class Site(Collector):
    """What Prometheus scrapes."""

    def collect(self) -> list[CounterMetricFamily | GaugeMetricFamily]:
        """Read the totals and the health of each part."""
        events = CounterMetricFamily("touchstone_events", "What the caches did.", labels=["cache", "name"])
        for (cache, name), number in sorted(_totals().items()):
            events.add_metric([cache, name], number)
        parts = GaugeMetricFamily("touchstone_ready", "1 while a needed part works.", labels=["part"])
        for part, why in readiness().items():
            parts.add_metric([part], 0 if why else 1)
        return [events, parts]


def render() -> bytes:
    """Write everything in Prometheus's text format."""
    registry = CollectorRegistry(auto_describe=False)
    registry.register(Site())
    return bytes(generate_latest(registry))


def _totals() -> Counter[tuple[str, str]]:
    totals: Counter[tuple[str, str]] = Counter()
    for field, number in access.valkey().hgetall(TOTALS).items():
        cache, name = (field if isinstance(field, str) else field.decode()).split("|", 1)
        totals[cache, NAME.sub("_", name)] += int(number)
    return totals
