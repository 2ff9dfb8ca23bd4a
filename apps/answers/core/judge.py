"""The judge's question and its answer."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from enum import StrEnum
from typing import Any, Protocol


class Verdict(StrEnum):
    """What a judge can say; everything unreadable, late or broken is UNSURE."""

    APPROVE = "APPROVE"
    REJECT = "REJECT"
    UNSURE = "UNSURE"


@dataclass(frozen=True, slots=True)
class Pair:
    """May this golden answer be served for that question?"""

    question: str
    golden_question: str
    golden_answer: str
    similarity: float
    margin: float | None
    features: Mapping[str, float] = field(default_factory=dict)


@dataclass(frozen=True, slots=True)
class Judgement:
    """A verdict with a score from 0 to 1 per rubric line and one sentence of reason."""

    verdict: Verdict
    scores: Mapping[str, float]
    reason: str
    tokens: int = 0
    latency_ms: float = 0.0


class Judge(Protocol):
    """Judges pairs; `version` changes whenever its verdicts could."""

    version: str

    def judge(self, pair: Pair) -> Judgement:
        """Judge one pair; never raises."""
        ...


class HumanJudge:
    """Leave every pair to the review queue."""

    version = "human:1"

    def judge(self, pair: Pair) -> Judgement:
        """Leave this pair to people."""
        return Judgement(Verdict.UNSURE, {}, "waits for a person")


class OfflineJudge:
    """Not fitted yet: says UNSURE."""

    version = "offline:unfitted"

    @classmethod
    def from_dict(cls, state: Mapping[str, Any]) -> OfflineJudge:
        """Load what was learnt."""
        return cls()

    def judge(self, pair: Pair) -> Judgement:
        """Say UNSURE."""
        return Judgement(Verdict.UNSURE, {}, "has too few labels")


class ChatJudge:
    """A language model behind an OpenAI-compatible endpoint."""

    def __init__(self, url: str, model: str, key: str, timeout_s: float) -> None:
        self.version = f"chat:{model}"

    def judge(self, pair: Pair) -> Judgement:
        """Say UNSURE."""
        return Judgement(Verdict.UNSURE, {}, "not connected")
