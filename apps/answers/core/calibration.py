"""Calibration: what each threshold would have hit and got wrong on labelled pairs, and what to propose for a budget."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from apps.answers.core.bounds import lower_bound, upper_bound
from apps.answers.core.judge.offline import Example

POINTS = 60
SMALLEST_SIGMA = 0.3


@dataclass(frozen=True, slots=True)
class Point:
    """One threshold: how many labelled pairs reach it, and with what precision, recall and error bound."""

    tau: float
    hits: int
    wrong: int
    precision: float
    precision_lower: float
    recall: float
    error_upper: float


@dataclass(frozen=True, slots=True)
class Proposal:
    """Thresholds for an error budget; None where the labels do not allow one, and how many more would."""

    tau_static: float | None
    tau_dynamic: float | None
    sigma_min: float | None
    labels: int
    more_labels: int
    note: str


def curve(examples: Sequence[Example], confidence: float = 0.95) -> list[Point]:
    """Draw precision and recall against the threshold, from the strictest to the loosest."""
    if not examples:
        return []
    ordered = sorted(examples, key=lambda example: -example.similarity)
    wrong = np.cumsum([not example.same for example in ordered])
    right = int(sum(example.same for example in ordered))
    steps = sorted({round(step) for step in np.linspace(0, len(ordered) - 1, POINTS)})
    return [_point(ordered[step].similarity, step + 1, int(wrong[step]), right, confidence) for step in steps]


def propose(examples: Sequence[Example], error_budget: float, confidence: float = 0.95) -> Proposal:
    """Propose thresholds whose error's upper bound stays within the budget.

    The error is the share of hits that are wrong. Tuning on the bound instead of the mean matters: thresholds tuned on
    the mean overshoot their budget by a third to two thirds on later traffic.
    """
    ordered = sorted(examples, key=lambda example: -example.similarity)
    tau, wrong = None, 0
    for hits, example in enumerate(ordered, 1):
        wrong += not example.same
        last_of_ties = hits == len(ordered) or ordered[hits].similarity < example.similarity
        if last_of_ties and upper_bound(wrong, hits, confidence) <= error_budget:
            tau = example.similarity
    if tau is None:
        return _too_few(ordered, error_budget, confidence)
    rounded = math.ceil(tau * 1e4) / 1e4 if tau < 1 else 1.0
    return Proposal(rounded, rounded, _sigma(ordered, rounded), len(ordered), 0, "")


def tune(examples: Sequence[Example], requests: int, budget: float, confidence: float = 0.95) -> float:
    """Find the lowest threshold at which the wrong hits among all requests stay, by their bound, within a budget.

    Used where the whole traffic is known, as in a replay: the error is then a share of requests, not of hits.
    """
    ordered = sorted(examples, key=lambda example: -example.similarity)
    tau, wrong = 1.0, 0
    for example in ordered:
        wrong += not example.same
        if upper_bound(wrong, requests, confidence) > budget:
            break
        tau = example.similarity
    return tau


def _point(tau: float, hits: int, wrong: int, right: int, confidence: float) -> Point:
    good = hits - wrong
    return Point(
        tau=round(tau, 6),
        hits=hits,
        wrong=wrong,
        precision=good / hits,
        precision_lower=lower_bound(good, hits, confidence),
        recall=good / right if right else 0.0,
        error_upper=upper_bound(wrong, hits, confidence),
    )


def _sigma(ordered: Sequence[Example], tau: float) -> float:
    """Open the grey zone where at least 95% of the pairs that mean the same lie above."""
    same = [example.similarity for example in ordered if example.same]
    lowest = float(np.quantile(same, 0.05)) if same else tau
    return round(min(max(lowest, SMALLEST_SIGMA), tau), 4)


def _too_few(ordered: Sequence[Example], error_budget: float, confidence: float) -> Proposal:
    """Say how many more labels would do if the ones at the top were all right."""
    needed = math.ceil(math.log(1 - confidence) / math.log(1 - error_budget)) if 0 < error_budget < 1 else 0
    right_at_top = next((index for index, example in enumerate(ordered) if not example.same), len(ordered))
    more = max(needed - right_at_top, 0)
    if more == 0:
        return Proposal(None, None, None, len(ordered), 0, "No threshold keeps the error within the budget.")
    note = f"About {more} more labels of very similar pairs are needed for a budget of {error_budget:.1%}."
    return Proposal(None, None, None, len(ordered), more, note)
