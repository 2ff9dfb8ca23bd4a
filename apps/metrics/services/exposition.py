"""Counters for Prometheus: totals per cache and outcome since Valkey was last emptied."""

from __future__ import annotations

import re
from collections import Counter
from itertools import accumulate

import redis
from prometheus_client import CollectorRegistry, generate_latest
from prometheus_client.core import CounterMetricFamily, GaugeMetricFamily, HistogramMetricFamily, Metric
from prometheus_client.registry import Collector

from apps.access import services as access
from apps.metrics.services.counting import EDGES_MS, TOTALS
from apps.metrics.services.health import readiness

BIN = "ms:"
NAME = re.compile(r"[^a-zA-Z0-9_:.-]")


class Site(Collector):
    """What Prometheus scrapes."""

    def collect(self) -> list[Metric]:
        """Read the totals and the health of each part."""
        events = CounterMetricFamily("touchstone_events", "What the caches did.", labels=["cache", "name"])
        totals = _totals()
        for (cache, name), number in sorted(totals.items()):
            if not name.startswith(BIN):
                events.add_metric([cache, name], number)
        parts = GaugeMetricFamily("touchstone_ready", "1 while a needed part works.", labels=["part"])
        for part, why in readiness().items():
            parts.add_metric([part], 0 if why else 1)
        return [events, _latencies(totals), parts]


def render() -> bytes:
    """Write everything in Prometheus's text format."""
    registry = CollectorRegistry(auto_describe=False)
    registry.register(Site())
    return bytes(generate_latest(registry))


def _latencies(totals: Counter[tuple[str, str]]) -> HistogramMetricFamily:
    """Turn the bins into cumulative buckets in seconds; what did not fit the last one is only in +Inf."""
    family = HistogramMetricFamily("touchstone_latency_seconds", "How long the caches took.", labels=["cache"])
    for cache in sorted({cache for cache, name in totals if name.startswith(BIN)}):
        bins = [totals[cache, f"{BIN}{place}"] for place in range(len(EDGES_MS) + 1)]
        edges = [str(round(edge / 1_000, 7)) for edge in EDGES_MS] + ["+Inf"]
        family.add_metric([cache], list(zip(edges, accumulate(bins), strict=True)), sum_value=None)
    return family


def _totals() -> Counter[tuple[str, str]]:
    totals: Counter[tuple[str, str]] = Counter()
    try:
        found = access.valkey().hgetall(TOTALS)
    except redis.RedisError:  # the gauge of readiness says so
        return totals
    for field, number in found.items():
        cache, name = (field if isinstance(field, str) else field.decode()).split("|", 1)
        totals[cache, NAME.sub("_", name)] += int(number)
    return totals
