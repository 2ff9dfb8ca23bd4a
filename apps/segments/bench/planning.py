"""What a plan costs for a large edge: value every row, order the wishes, decide; without the database."""

from __future__ import annotations

import time
from collections.abc import Iterator

import numpy as np

from apps.segments.core import plan, predictor, value
from apps.segments.core.catalogue import SEGMENT_S, Catalogue
from apps.segments.core.plan import Stage, Wish

ROWS, VIEWERS, AHEAD = 100_000, 5_000, 5
LENGTH, RENDITIONS = 500, 2
REPEATS = 5


def line() -> str:
    """Tell in words how long plans took for 100,000 rows, half of them held, and 5,000 viewers."""
    took = [1000 * each for each in _runs()]
    return (
        f"plan for {ROWS:,} segments and {VIEWERS:,} viewers: median {np.median(took):.0f} ms, "
        f"worst {max(took):.0f} ms of {REPEATS}"
    )


def _runs() -> Iterator[float]:
    rng = np.random.default_rng(0)
    videos = ROWS // (LENGTH * RENDITIONS)
    sizes = rng.integers(200_000, 2_000_000, ROWS)
    catalogue = Catalogue(np.full(videos, LENGTH), np.full(videos, RENDITIONS), sizes)
    curve = predictor.Retention.fit([])
    survival = np.concatenate([curve.survival(LENGTH)] * videos)
    demand = value.Demand(survival, rng.uniform(0, 1e-3, (videos, RENDITIONS)))
    factor = value.adjustment(catalogue, value.plain_traits(catalogue))
    held = rng.uniform(size=ROWS) < 0.5
    edge = plan.Edge(int(sizes[held].sum()), held, limit_bps=1e9)
    for number in range(REPEATS + 1):
        viewers = [
            (int(rng.integers(videos)), int(rng.integers(RENDITIONS)), int(rng.integers(LENGTH)), 3.0)
            for _ in range(VIEWERS)
        ]
        before = time.perf_counter()
        values = value.next_access(catalogue, value.crowd(viewers), demand, 3_600.0)
        plan.make(catalogue, values, factor, edge, list(_wishes(catalogue, viewers, curve)))
        if number:  # the first one compiles
            yield time.perf_counter() - before


def _wishes(
    catalogue: Catalogue, viewers: list[tuple[int, int, int, float]], curve: predictor.Retention
) -> Iterator[Wish]:
    for video, rendition, index, _idle in viewers:
        path = predictor.Path(video, LENGTH, np.array([index], np.int64))
        for step, chance in enumerate(curve.predict(path, AHEAD), start=1):
            row = catalogue.row(video, index + step, rendition)
            yield Wish(row, Stage.PATH, step * SEGMENT_S, float(chance), "A viewer will be there.")
