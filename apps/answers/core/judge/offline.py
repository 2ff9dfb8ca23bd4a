"""The offline judge: the geometry of the golden tier, fitted on the deployment's own labels.

Logistic regression on cosine, margin and the nearest labels (see `exemplars`); no general model transfers between
domains, this does because it only learns how this golden tier is spread. Its threshold is cross-validated to a target
precision, and its precision is shown with a Clopper-Pearson bound. Geometry is blind to a swapped number or name, so
pairs in which a guard sees such a difference have a threshold of their own: until enough of the labels show that the
guards are wrong here, those pairs are left to people.
"""

from __future__ import annotations

import hashlib
import json
from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass, field, fields
from typing import Any

import numpy as np
from numpy.typing import NDArray

from apps.answers.core import guards
from apps.answers.core.bounds import lower_bound
from apps.answers.core.judge.rubric import Judgement, Pair, Verdict, unsure

Floats = NDArray[np.float64]
FEATURES = ("similarity", "margin", "support", "support_margin", "refuted")
WIDEST_MARGIN = 0.5
FEWEST_LABELS = 60
FEWEST_PER_CLASS = 10
FOLDS = 10
PENALTY = 1.0


@dataclass(frozen=True, slots=True)
class Example:
    """One labelled pair: its cosine, its margin, whether the golden answer may be served, and what is around it.

    `features` is what `Exemplars.features` gave for it with the label itself left out; without it cosine and margin
    have to do. `guarded`: a guard sees a difference between the two questions.
    """

    similarity: float
    margin: float | None
    same: bool
    features: Mapping[str, float] = field(default_factory=dict)
    guarded: bool = False


@dataclass(frozen=True, slots=True)
class Fit:
    """What was learnt: standardisation, weights (bias last), thresholds, and how well it did on held-out labels."""

    centre: tuple[float, ...]
    scale: tuple[float, ...]
    weights: tuple[float, ...]
    approve_at: float
    approve_guarded_at: float
    reject_at: float
    labels: int
    approved: int
    precision: float
    precision_lower: float
    recall: float


class OfflineJudge:
    """Approve above one probability, reject below another, and leave the rest to people."""

    def __init__(self, fit: Fit | None = None, missing: int = FEWEST_LABELS) -> None:
        self.fit_ = fit
        self.missing = missing
        self.version = f"offline:{_fingerprint(fit)}" if fit else "offline:unfitted"

    @classmethod
    def fit(cls, examples: Sequence[Example], target_precision: float = 0.98) -> OfflineJudge:
        """Learn from labelled pairs; with too few of them the judge stays unfitted and says how many it misses."""
        same = np.array([example.same for example in examples], bool)
        missing = missing_labels(int(same.sum()), int((~same).sum()))
        if missing:
            return cls(None, missing)
        matrix = np.array([_features(example.similarity, example.margin, example.features) for example in examples])
        held_out = _held_out(matrix, same)
        guarded = np.array([example.guarded for example in examples], bool)
        approve_at, approved, hits = _threshold(held_out[~guarded], same[~guarded], target_precision)
        approve_guarded_at, more, more_hits = _threshold(held_out[guarded], same[guarded], target_precision)
        approved, hits = approved + more, hits + more_hits
        reject_at, _, _ = _threshold(1 - held_out, ~same, target_precision)
        centre, scale, weights = _regress(matrix, same)
        fit = Fit(
            centre=tuple(map(float, centre)),
            scale=tuple(map(float, scale)),
            weights=tuple(map(float, weights)),
            approve_at=approve_at,
            approve_guarded_at=approve_guarded_at,
            reject_at=min(1 - reject_at, approve_at, approve_guarded_at),
            labels=len(examples),
            approved=approved,
            precision=hits / approved if approved else 0.0,
            precision_lower=lower_bound(hits, approved),
            recall=hits / int(same.sum()),
        )
        return cls(fit)

    @classmethod
    def from_dict(cls, state: Mapping[str, Any]) -> OfflineJudge:
        """Load what `to_dict` gave; anything else is an unfitted judge."""
        if len(state.get("weights") or ()) != len(FEATURES) + 1:
            return cls(None, int(state.get("missing", FEWEST_LABELS)))
        values: dict[str, Any] = {item.name: state[item.name] for item in fields(Fit)}
        for name in ("centre", "scale", "weights"):
            values[name] = tuple(values[name])
        return cls(Fit(**values))

    def to_dict(self) -> dict[str, Any]:
        """Give what was learnt as JSON values."""
        return asdict(self.fit_) if self.fit_ else {"missing": self.missing}

    def probability(
        self, similarity: float, margin: float | None, features: Mapping[str, float] | None = None
    ) -> float:
        """Give the probability that a golden answer may be served; 0.5 while unfitted."""
        if self.fit_ is None:
            return 0.5
        row = (np.array(_features(similarity, margin, features or {})) - self.fit_.centre) / self.fit_.scale
        return float(_sigmoid(row @ np.array(self.fit_.weights[:-1]) + self.fit_.weights[-1]))

    def judge(self, pair: Pair) -> Judgement:
        """Judge one pair by its place among the golden answers."""
        if self.fit_ is None:
            return unsure(f"the offline judge needs {self.missing} more labels")
        chance = self.probability(pair.similarity, pair.margin, pair.features)
        scores = {"same_intent": round(chance, 4)}
        reason = f"{chance:.0%} likely the same: similarity {pair.similarity:.2f}, margin {pair.margin or 0:.2f}"
        seen = guards.fired(pair.question, pair.golden_question, pair.guards)
        if chance >= (self.fit_.approve_guarded_at if seen else self.fit_.approve_at):
            return Judgement(Verdict.APPROVE, scores, reason)
        if seen and chance >= self.fit_.approve_at:
            reason += f"; but the questions differ ({', '.join(seen)}), which this judge cannot weigh"
        if chance <= self.fit_.reject_at:
            return Judgement(Verdict.REJECT, scores, reason)
        return Judgement(Verdict.UNSURE, scores, reason if seen else f"{reason}; {self._bar()}")

    def _bar(self) -> str:
        """Say what it would have taken to approve."""
        if self.fit_ is None or self.fit_.approve_at > 1:
            return "too few of its labels are right at any certainty to approve by itself"
        return f"it approves from {self.fit_.approve_at:.1%}"


def missing_labels(same: int, different: int) -> int:
    """Say how many more labels a fit needs; 0 when there are enough of both kinds."""
    per_class = max(0, FEWEST_PER_CLASS - same) + max(0, FEWEST_PER_CLASS - different)
    return max(per_class, FEWEST_LABELS - same - different)


def _features(similarity: float, margin: float | None, around: Mapping[str, float]) -> tuple[float, ...]:
    """Give one row in the order of FEATURES; what is not known of the labels around falls back on the golden tier."""
    lead = WIDEST_MARGIN if margin is None else _within(margin)
    support = around.get("support", similarity)
    return similarity, lead, support, _within(around.get("support_margin", lead)), around.get("refuted", 0.0)


def _within(margin: float) -> float:
    return min(max(margin, -WIDEST_MARGIN), WIDEST_MARGIN)


def _sigmoid(values: Any) -> Any:
    return 1 / (1 + np.exp(-np.clip(values, -30, 30)))


def _regress(matrix: Floats, same: NDArray[np.bool_]) -> tuple[Floats, Floats, Floats]:
    """Fit by Newton's method with a small quadratic penalty; returns (centre, scale, weights with the bias last)."""
    centre, scale = matrix.mean(0), np.maximum(matrix.std(0), 1e-6)
    design = np.column_stack([(matrix - centre) / scale, np.ones(len(matrix))])
    penalty = np.diag([PENALTY] * matrix.shape[1] + [1e-6])
    weights = np.zeros(design.shape[1])
    for _ in range(50):
        chance = _sigmoid(design @ weights)
        slope = design.T @ (chance - same) + penalty @ weights
        curve = (design * (chance * (1 - chance))[:, None]).T @ design + penalty
        step = np.linalg.solve(curve, slope)
        weights -= step
        if np.abs(step).max() < 1e-8:
            break
    return centre, scale, weights


def _held_out(matrix: Floats, same: NDArray[np.bool_]) -> Floats:
    """Give each label the probability from a fit that did not see it; folds hold both classes evenly."""
    order = np.argsort(~same, kind="stable")
    fold = np.empty(len(same), int)
    fold[order] = np.arange(len(same)) % FOLDS
    chance = np.empty(len(same))
    for number in range(FOLDS):
        inside = fold == number
        centre, scale, weights = _regress(matrix[~inside], same[~inside])
        chance[inside] = _sigmoid((matrix[inside] - centre) / scale @ weights[:-1] + weights[-1])
    return chance


def _threshold(chance: Floats, good: NDArray[np.bool_], target: float) -> tuple[float, int, int]:
    """Find the lowest threshold whose held-out precision reaches the target, half a mistake more counted.

    The best of many thresholds flatters itself; the half mistake makes up for it.

    Returns (threshold, how many lie above it, how many of those are good); a threshold above 1 accepts nothing.
    """
    order = np.argsort(-chance, kind="stable")
    hits = np.cumsum(good[order])
    reached = np.flatnonzero(hits - 0.5 >= target * np.arange(1, len(order) + 1))
    if len(reached) == 0 or reached[-1] + 1 < FEWEST_PER_CLASS:
        return 1.01, 0, 0
    last = int(reached[-1])
    return float(chance[order[last]]), last + 1, int(hits[last])


def _fingerprint(fit: Fit) -> str:
    return hashlib.sha256(json.dumps(asdict(fit), sort_keys=True).encode()).hexdigest()[:12]
