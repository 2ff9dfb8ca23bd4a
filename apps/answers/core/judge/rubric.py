"""What every judge is asked, and the shape of its answer."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from enum import StrEnum
from typing import Protocol

RUBRIC = {
    "same_intent": "Both questions want the same thing done or known.",
    "same_entities": "Both are about the same products, plans, people and places.",
    "same_constraints": "Numbers, dates, amounts, places and conditions are the same.",
    "same_polarity": "Neither negates or reverses what the other asks.",
    "complete": "The answer fully answers the new question and does not mislead.",
}


class Verdict(StrEnum):
    """What a judge can say; everything unreadable, late or broken is UNSURE."""

    APPROVE = "APPROVE"
    REJECT = "REJECT"
    UNSURE = "UNSURE"


@dataclass(frozen=True, slots=True)
class Pair:
    """May this golden answer be served for that question?

    `similarity` is the cosine of the two questions; `margin` is how much nearer this golden answer is than the nearest
    golden question with a different answer (None when it is not known). `guards` says which guards are switched on.
    """

    question: str
    golden_question: str
    golden_answer: str
    similarity: float
    margin: float | None
    features: Mapping[str, float] = field(default_factory=dict)
    guards: Mapping[str, bool] = field(default_factory=dict)


@dataclass(frozen=True, slots=True)
class Judgement:
    """A verdict with a score from 0 to 1 per rubric line and one sentence of reason.

    `broken` says that the judge itself failed, so that asking again later makes sense.
    """

    verdict: Verdict
    scores: Mapping[str, float]
    reason: str
    tokens: int = 0
    broken: bool = False


class Judge(Protocol):
    """Judges pairs."""

    @property
    def version(self) -> str:
        """Name the judge; the name changes whenever its verdicts could."""
        ...

    def judge(self, pair: Pair) -> Judgement:
        """Judge one pair; never raises."""
        ...


def unsure(reason: str, *, tokens: int = 0, broken: bool = False) -> Judgement:
    """Say that this judge does not know."""
    return Judgement(Verdict.UNSURE, {}, reason, tokens, broken)
