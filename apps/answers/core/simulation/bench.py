"""One stream under every policy: a tuned static threshold, Krites with two judges, and Touchstone."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from apps.answers.core import guards
from apps.answers.core.bounds import upper_bound
from apps.answers.core.calibration import tune
from apps.answers.core.judge import Example, Verdict
from apps.answers.core.policy import Policy, margin_of
from apps.answers.core.simulation import labels
from apps.answers.core.simulation.cache import Cache, Golden, JudgeFunction, Traffic
from apps.answers.core.simulation.stream import Stream, medoids

SIGMA = 0.5
NO_GUARDS = Policy(guards=dict.fromkeys(guards.NAMES, False), sigma_min=SIGMA)
GUARDED = Policy(sigma_min=SIGMA)
GEOMETRY = Policy(guards={name: name in {"margin", "agreement"} for name in guards.NAMES}, sigma_min=SIGMA)
BASES = {"static": NO_GUARDS, "krites_oracle": NO_GUARDS, "krites_offline": NO_GUARDS, "touchstone": GUARDED}


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
        world = stream, self.traffic, self.golden
        self.judges: dict[str, JudgeFunction | None] = {
            "static": None,
            "krites_oracle": self.oracle,
            "krites_offline": labels.PlainJudge(labels.at_random(*world, seed)),
            "touchstone": labels.TaughtJudge(labels.most_asked(*world)),
        }

    def run(self, policy: Policy, judge: JudgeFunction | None) -> Result:
        """Serve the measured part of the stream under one policy."""
        cache = Cache(policy, self.traffic, self.golden, judge)
        golden = hits = errors = 0
        for question in self.stream.measured:
            truth = int(self.stream.classes[question])
            served = cache.ask(int(question), truth)
            golden += served.from_golden
            hits += served.outcome != "miss"
            errors += served.answer != truth
        approved = [pair for pair, verdict in cache.verdicts.items() if verdict is Verdict.APPROVE]
        false = sum(self.oracle(*pair, 0, 0) is not Verdict.APPROVE for pair in approved)
        return Result(len(self.stream.measured), golden, hits, errors, len(cache.verdicts), len(approved), false)

    def tuned(self, policy: Policy, budget: float) -> Policy:
        """Tune both thresholds on history so that the upper bound of the error stays within the budget."""
        return at(policy, tune(self._pairs(), len(self.stream.history), budget))

    def oracle(self, question: int, golden: int, similarity: float, margin: float) -> Verdict:
        """Judge by the data set's own classes."""
        same = self.stream.classes[question] == self.golden.answers[golden]
        return Verdict.APPROVE if same else Verdict.REJECT

    def _pairs(self) -> list[Example]:
        """Pair every request of history with its nearest golden question, leaving out the golden questions."""
        known = set(self.golden.texts)
        asked: NDArray[np.int64] = self.stream.history
        return [self._pair(int(question)) for question in asked if self.stream.texts[question] not in known]

    def _pair(self, question: int) -> Example:
        places, near = self.traffic.around(question, self.golden)
        same = self.golden.answers[places[0]] == self.stream.classes[question]
        return Example(near[0].similarity, margin_of(near), bool(same))


def at(policy: Policy, tau: float) -> Policy:
    """Put both thresholds of a policy at one value, the grey zone below it."""
    return replace(policy, tau_static=tau, tau_dynamic=tau, sigma_min=min(SIGMA, tau))
