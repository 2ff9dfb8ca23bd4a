"""Counting on the request path loses nothing that Valkey can take later."""

import threading
from typing import Any
from uuid import uuid4

import pytest
import redis
from hypothesis import given
from hypothesis import strategies as st

from apps.access import services as access
from apps.metrics import services
from apps.metrics.services import buckets, counting
from apps.metrics.services.buckets import Sum


def total(workspace: Any) -> Sum:
    keys: list[Any] = list(access.valkey().scan_iter("touchstone:tally:*"))
    starts = [int(key.decode().rpartition(":")[2]) for key in keys]
    return buckets.total(buckets.fetch(starts), workspace, "answers")


def test_counts_reach_valkey_and_expire_there() -> None:
    workspace = uuid4()
    services.count(workspace, "answers", "default", "miss")
    services.count(workspace, "answers", "default", "judge_tokens", 40)
    services.observe(workspace, "answers", "default", 12.0)
    services.flush()
    found = total(workspace)
    assert (found.counts, sum(found.latency.values())) == ({"miss": 1, "judge_tokens": 40}, 1)
    (key,) = access.valkey().keys("touchstone:tally:*")
    assert 0 < access.valkey().ttl(key) <= counting.KEEP_S


def test_counts_of_many_threads_add_up() -> None:
    workspace = uuid4()

    def work() -> None:
        for _ in range(500):
            services.count(workspace, "answers", "default", "miss")

    threads = [threading.Thread(target=work) for _ in range(8)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    services.flush()
    assert total(workspace).counts["miss"] == 4_000


def test_what_valkey_refuses_is_kept_for_the_next_flush(monkeypatch: pytest.MonkeyPatch) -> None:
    workspace = uuid4()
    gone = redis.Redis.from_url("unix:///nowhere/valkey.sock")
    real = access.valkey()
    with monkeypatch.context() as patch:
        patch.setattr(access, "valkey", lambda: gone)
        services.count(workspace, "answers", "default", "miss", 3)
        assert services.flush() == 0
    gone.close()
    assert access.valkey() is real
    services.flush()
    assert total(workspace).counts["miss"] == 3


@given(st.lists(st.floats(0.1, 90_000), min_size=1, max_size=200))
def test_a_quantile_is_within_a_bin_of_the_true_one(latencies: list[float]) -> None:
    part = Sum()
    for one in latencies:
        part.latency[counting.bin_of(one)] += 1
    for share, name in ((0.5, "p50"), (0.95, "p95"), (0.99, "p99")):
        rank = min(len(latencies) - 1, max(0, -int(-share * len(latencies) // 1) - 1))
        true = sorted(latencies)[rank]
        found = part.quantiles()[name]
        assert found is not None
        assert true / 1.3 <= found <= true * 1.3


def test_nothing_measured_has_no_quantile() -> None:
    assert Sum().quantiles() == {"p50": None, "p95": None, "p99": None}
