"""The rows of the policy benchmark: tuned thresholds, equal errors, and the geometry guards on and off."""

from __future__ import annotations

import itertools
from collections.abc import Iterator, Sequence
from typing import Any

import numpy as np

from apps.answers.core.policy import Policy
from apps.answers.core.simulation.bench import BASES, GEOMETRY, NO_GUARDS, Bench, at
from apps.answers.core.simulation.stream import Stream

BUDGETS = (0.01, 0.02, 0.05)
SWEEP = (*np.round(np.arange(0.98, 0.79, -0.02), 2), *np.round(np.arange(0.77, 0.54, -0.03), 2))
GEOMETRY_TAUS = (0.9, 0.85, 0.8, 0.75)
Point = tuple[float, float, float]


def policy_rows(data: str, stream: Stream, seed: int, per_class: int) -> Iterator[dict[str, Any]]:
    """Run every policy at every budget; thresholds tuned on history."""
    bench = Bench(stream, per_class, seed)
    for budget in BUDGETS:
        for name, base in BASES.items():
            result = bench.run(bench.tuned(base, budget), bench.judges[name])
            head = {"part": "policy", "data": data, "seed": seed, "per_class": per_class, "budget": budget}
            yield {**head, "policy": name, **result.row()}


def equal_error_rows(data: str, streams: Sequence[Stream], per_class: int) -> Iterator[dict[str, Any]]:
    """Sweep every policy's thresholds and read its shares off where its error, over all seeds, is the wanted one."""
    benches = [Bench(stream, per_class, seed) for seed, stream in enumerate(streams)]
    for name, base in BASES.items():
        points = [_mean(benches, at(base, float(tau)), name) for tau in SWEEP]
        for error in BUDGETS:
            if shares := read_off(points, error):
                head = {"part": "equal_error", "data": data, "per_class": per_class, "error": error, "policy": name}
                yield {**head, "static_share": shares[0], "hit_share": shares[1]}


def geometry_rows(data: str, stream: Stream, seed: int, per_class: int) -> Iterator[dict[str, Any]]:
    """Compare errors and hits with the two geometry guards on and off, at the same thresholds, oracle judge."""
    bench = Bench(stream, per_class, seed)
    for tau in GEOMETRY_TAUS:
        for switch, base in (("off", NO_GUARDS), ("on", GEOMETRY)):
            result = bench.run(at(base, tau), bench.judges["krites_oracle"]).row()
            shares = {name: result[name] for name in ("static_share", "hit_share", "error_share")}
            yield {"part": "geometry", "data": data, "seed": seed, "tau": tau, "guards": switch, **shares}


def read_off(points: Sequence[Point], error: float) -> tuple[float, float] | None:
    """Interpolate (static share, hit share) at an error; None when the sweep never reaches or always exceeds it."""
    for low, high in itertools.pairwise(points):
        if low[0] <= error <= high[0]:
            part = 0.0 if high[0] == low[0] else (error - low[0]) / (high[0] - low[0])
            return low[1] + part * (high[1] - low[1]), low[2] + part * (high[2] - low[2])
    return None


def _mean(benches: Sequence[Bench], policy: Policy, name: str) -> Point:
    results = [bench.run(policy, bench.judges[name]).row() for bench in benches]
    keys = ("error_share", "static_share", "hit_share")
    error, static, hit = (float(np.mean([row[key] for row in results])) for key in keys)
    return error, static, hit
