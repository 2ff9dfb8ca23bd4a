"""A clean Valkey and an empty memory for every test of metrics."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import pytest

from apps.metrics.services import buckets, counting, standing


def forget() -> None:
    counting._counts.take()
    buckets.forget()
    standing.forget()


@pytest.fixture(autouse=True)
def _clean(valkey: Any) -> Iterator[None]:
    from apps.access import services as access

    forget()
    access.valkey().flushdb()
    yield
    forget()
