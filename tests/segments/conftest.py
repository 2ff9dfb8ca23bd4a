"""A small world to simulate: a few videos, viewers who mostly play on."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
import pytest

from apps.segments.core.catalogue import Catalogue
from apps.segments.core.simulator import Sessions, Trace

Maker = Callable[..., Trace]


def make(sessions: int = 200, videos: int = 6, length: int = 30, seed: int = 0, sizes: int | None = None) -> Trace:
    """Let viewers start at random moments of two days and leave with 3% after each segment."""
    rng = np.random.default_rng(seed)
    lengths, renditions = np.full(videos, length), np.full(videos, 2)
    rows = int((lengths * renditions).sum())
    catalogue = Catalogue(lengths, renditions, rng.integers(100, 1000, rows) if sizes is None else np.full(rows, sizes))
    began = np.sort(rng.uniform(0, 2 * 86400, sessions))
    video, rung = rng.integers(0, videos, sessions), rng.integers(0, 2, sessions)
    played = np.minimum(length, rng.geometric(0.03, sessions))
    session = np.repeat(np.arange(sessions), played)
    index = np.concatenate([np.arange(count) for count in played])
    at = began[session] + index * 6.0
    row = catalogue.base[video[session]] + rung[session] * length + index
    order = np.argsort(at, kind="stable")
    who = Sessions(rng.integers(0, 40, sessions), video, rung, began - rng.uniform(0, 30, sessions))
    return Trace(
        "small", seed, catalogue, who, np.zeros(videos), at[order], row[order], session[order], index[order] == 0
    )


@pytest.fixture
def world() -> Maker:
    return make
