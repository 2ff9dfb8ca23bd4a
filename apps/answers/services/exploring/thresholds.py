"""What other thresholds would do, read off the similarities that were measured and the labels there are."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from apps.answers.core.bounds import upper_bound
from apps.answers.models import Namespace, Query
from apps.answers.services.judging.governing import tokens_per_verdict
from apps.answers.services.judging.labels import examples

MOST_REQUESTS = 20_000
LOWEST, STEPS = 0.3, 70  # from .30 to 1.00 by hundredths


@dataclass(frozen=True, slots=True)
class Explored:
    """Recent requests and labels on a grid of similarities; place i stands for `grid[i]` and above.

    `near` counts requests by the similarity of their nearest golden question, `exact` those that needed none.
    `labelled`, `wrong` and `wrong_upper` are about labelled pairs at or above the similarity.
    """

    grid: list[float]
    requests: int
    exact: int
    near: list[int]
    labelled: list[int]
    wrong: list[int]
    wrong_upper: list[float]
    tokens_per_verdict: int


def explore(namespace: Namespace) -> Explored:
    """Measure the last 20,000 requests without context, and all labels."""
    rows = Query.objects.filter(namespace=namespace, context=b"").exclude(outcome=Query.Outcome.BYPASS)
    told = rows.order_by("-created_at").values_list("s_static", "reason")[:MOST_REQUESTS]
    exact = sum(reason == "exact" for _similarity, reason in told)
    near = np.array([value for value, reason in told if value is not None and reason != "exact"], np.float64)
    grid = np.round(LOWEST + np.arange(STEPS + 1) / 100, 2)
    labels = examples(namespace)
    pairs = np.array([label.similarity for label in labels], np.float64)
    different = np.array([not label.same for label in labels], bool)
    labelled, wrong = _above(pairs, grid), _above(pairs[different], grid)
    return Explored(
        grid=[float(value) for value in grid],
        requests=len(told),
        exact=exact,
        near=_above(near, grid),
        labelled=labelled,
        wrong=wrong,
        wrong_upper=[round(upper_bound(bad, all_), 5) for bad, all_ in zip(wrong, labelled, strict=True)],
        tokens_per_verdict=tokens_per_verdict(namespace),
    )


def _above(values: NDArray[np.float64], grid: NDArray[np.float64]) -> list[int]:
    ordered = np.sort(values)
    return [int(count) for count in len(ordered) - np.searchsorted(ordered, grid - 1e-9)]
