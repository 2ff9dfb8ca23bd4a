"""The policy benchmark: a tuned static threshold, Krites with two judges, and Touchstone, on the same streams."""

from __future__ import annotations

import itertools
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from apps.answers.core import guards
from apps.answers.core.bounds import upper_bound
from apps.answers.core.calibration import tune
from apps.answers.core.judge import Example, OfflineJudge, Pair, Verdict
from apps.answers.core.policy import Policy, margin_of
from apps.answers.core.simulation.cache import Cache, Golden, JudgeFunction, Traffic
from apps.answers.core.simulation.stream import Stream, medoids

BUDGETS = (0.01, 0.02, 0.05)
LABELS = 200
SIGMA = 0.5
SWEEP = (0.98, 0.95, 0.92, 0.9, 0.88, 0.86, 0.84, 0.82, 0.8, 0.78, 0.76, 0.74, 0.72, 0.7, 0.67, 0.64, 0.6, 0.55)
NO_GUARDS = Policy(guards=dict.fromkeys(guards.NAMES, False), sigma_min=SIGMA)
GUARDED = Policy(sigma_min=SIGMA)
POLICIES = ("static", "krites_oracle", "krites_offline", "touchstone")


@dataclass(frozen=True, slots=True)
class Result:
    """What one policy did with the measured part of a stream; shares are of all its requests."""

    requests: int
    golden: int
    hits: int
    errors: int
    verifications: int
    approvals: int
    false_approvals: int

    def row(self) -> dict[str, Any]:
        """Give the shares and counts in the benchmark's words."""
        return {
            "static_share": self.golden / self.requests,
            "hit_share": self.hits / self.requests,
            "error_share": self.errors / self.requests,
            "error_upper95": upper_bound(self.errors, self.requests, 0.975),
            "verifications": self.verifications,
            "approvals": self.approvals,
            "false_approvals": self.false_approvals,
        }


class Bench:
    """One stream, its static tier from history, and the judges fitted on history."""

    def __init__(self, stream: Stream, per_class: int, seed: int) -> None:
        self.stream = stream
        chosen = medoids(stream, per_class)
        self.golden = Golden([stream.texts[i] for i in chosen], [int(stream.classes[i]) for i in chosen])
        vectors = stream.vectors
        self.traffic = Traffic(stream.texts, vectors @ vectors.T, vectors @ vectors[chosen].T)
        self.offline = OfflineJudge.fit(self._labels(seed))

    def run(self, policy: Policy, judge: JudgeFunction | None, requests: np.ndarray[Any, Any] | None = None) -> Result:
        """Serve the measured part of the stream under one policy."""
        asked = self.stream.measured if requests is None else requests
        cache = Cache(policy, self.traffic, self.golden, judge)
        golden = hits = errors = 0
        for question in asked:
            truth = int(self.stream.classes[question])
            served = cache.ask(int(question), truth)
            golden += served.from_golden
            hits += served.outcome != "miss"
            errors += served.answer != truth
        verdicts = list(cache.verdicts.items())
        approved = [pair for pair, verdict in verdicts if verdict is Verdict.APPROVE]
        false = sum(self.oracle(*pair, 0, 0) is not Verdict.APPROVE for pair in approved)
        return Result(len(asked), golden, hits, errors, len(verdicts), len(approved), false)

    def tuned(self, policy: Policy, budget: float) -> Policy:
        """Tune both thresholds on history so that the upper bound of the error stays within the budget."""
        tau = tune(self._pairs(), len(self.stream.history), budget)
        return replace(policy, tau_static=tau, tau_dynamic=tau, sigma_min=min(policy.sigma_min, tau))

    def judge(self, name: str) -> JudgeFunction | None:
        """Give the judge of a benchmark policy."""
        judges: dict[str, JudgeFunction | None] = {"static": None, "krites_oracle": self.oracle}
        return judges.get(name, self.fitted)

    def oracle(self, question: int, golden: int, similarity: float, margin: float) -> Verdict:
        """Judge by the data set's own classes."""
        same = self.stream.classes[question] == self.golden.answers[golden]
        return Verdict.APPROVE if same else Verdict.REJECT

    def fitted(self, question: int, golden: int, similarity: float, margin: float) -> Verdict:
        """Judge with the offline judge fitted on labelled pairs of history."""
        pair = Pair(self.stream.texts[question], self.golden.texts[golden], "", similarity, margin)
        return self.offline.judge(pair).verdict

    def _pairs(self) -> list[Example]:
        """Pair every request of history with its nearest golden question, leaving out the golden questions."""
        cache = Cache(NO_GUARDS, self.traffic, self.golden)
        known = set(self.golden.texts)
        examples = []
        for question in self.stream.history:
            if self.stream.texts[question] not in known:
                places, near = cache._golden(int(question))
                same = self.golden.answers[places[0]] == self.stream.classes[question]
                examples.append(Example(near[0].similarity, margin_of(near), bool(same)))
        return examples

    def _labels(self, seed: int) -> list[Example]:
        """Draw the labels of the offline judge: distinct near misses of history, as curators would see them."""
        grey = sorted({(e.similarity, e.margin, e.same) for e in self._pairs() if SIGMA <= e.similarity < 0.95})
        random = np.random.default_rng(seed)
        chosen = random.permutation(len(grey))[:LABELS]
        return [Example(*grey[i]) for i in chosen]


def policy_rows(data: str, stream: Stream, seed: int, per_class: int) -> Iterator[dict[str, Any]]:
    """Run every policy at every budget; thresholds tuned on history."""
    bench = Bench(stream, per_class, seed)
    for budget in BUDGETS:
        for name in POLICIES:
            base = GUARDED if name == "touchstone" else NO_GUARDS
            result = bench.run(bench.tuned(base, budget), bench.judge(name))
            head = {"part": "policy", "data": data, "seed": seed, "per_class": per_class, "budget": budget}
            yield {**head, "policy": name, **result.row()}


def equal_error_rows(data: str, streams: Sequence[Stream], per_class: int) -> Iterator[dict[str, Any]]:
    """Sweep every policy's thresholds and read the shares off where its error equals the wanted one."""
    benches = [Bench(stream, per_class, seed) for seed, stream in enumerate(streams)]
    for name in POLICIES:
        base = GUARDED if name == "touchstone" else NO_GUARDS
        points = [_mean(benches, base, name, tau) for tau in SWEEP]
        for error in BUDGETS:
            shares = _read_off(points, error)
            if shares:
                head = {"part": "equal_error", "data": data, "per_class": per_class, "error": error, "policy": name}
                yield {**head, "static_share": shares[0], "hit_share": shares[1]}


def _mean(benches: Sequence[Bench], base: Policy, name: str, tau: float) -> tuple[float, float, float]:
    policy = replace(base, tau_static=tau, tau_dynamic=tau, sigma_min=min(SIGMA, tau))
    results = [bench.run(policy, bench.judge(name)).row() for bench in benches]
    keys = ("error_share", "static_share", "hit_share")
    error, static, hit = (float(np.mean([row[key] for row in results])) for key in keys)
    return error, static, hit


def _read_off(points: Sequence[tuple[float, float, float]], error: float) -> tuple[float, float] | None:
    """Interpolate the shares at an error; None when the sweep never reaches or always exceeds it."""
    for low, high in itertools.pairwise(points):
        if low[0] <= error <= high[0]:
            part = 0.0 if high[0] == low[0] else (error - low[0]) / (high[0] - low[0])
            return low[1] + part * (high[1] - low[1]), low[2] + part * (high[2] - low[2])
    return None
