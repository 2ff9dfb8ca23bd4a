"""Both tiers in memory over a fixed set of questions; every request is decided by `policy.decide`."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field

import numpy as np
from numpy.typing import NDArray

from apps.answers.core import policy as policies
from apps.answers.core.judge import Verdict

Floats = NDArray[np.float32]
NEIGHBOURS = 10
NONE = -1
GENERATED, PROMOTED = 0, 1


Around = tuple[list[int], list[policies.Near]]


@dataclass(frozen=True, slots=True)
class Golden:
    """The static tier: golden questions and the answer each of them has (an index)."""

    texts: Sequence[str]
    answers: Sequence[int]


@dataclass(frozen=True, slots=True)
class Traffic:
    """Distinct questions and how alike they are.

    `similar[i, j]` is the cosine of questions i and j; `golden[i, k]` that of question i and golden question k.
    """

    texts: Sequence[str]
    similar: Floats
    golden: Floats
    _near: dict[int, Around] = field(default_factory=dict, repr=False, compare=False)

    def around(self, question: int, golden: Golden) -> Around:
        """Find the nearest golden questions, once per question: their places, and what the decision sees of them."""
        if question not in self._near:
            row = self.golden[question]
            count = min(NEIGHBOURS, len(row))
            best = np.argpartition(-row, count - 1)[:count] if count else np.empty(0, int)
            places = [int(place) for place in best[np.argsort(-row[best], kind="stable")]]
            near = [
                policies.Near(golden.texts[place], float(row[place]), str(golden.answers[place])) for place in places
            ]
            self._near[question] = places, near
        return self._near[question]


@dataclass(frozen=True, slots=True)
class Asked:
    """What one request got: the answer's index or NONE, and where it came from."""

    outcome: str
    answer: int
    from_golden: bool
    judged: Verdict | None = None


# A judge here sees (question, golden question, cosine, margin) as indices and numbers.
JudgeFunction = Callable[[int, int, float, float], Verdict]


class Cache:
    """A namespace under one policy, empty but for its golden answers."""

    def __init__(
        self,
        policy: policies.Policy,
        traffic: Traffic,
        golden: Golden,
        judge: JudgeFunction | None = None,
    ) -> None:
        self.policy = policy
        self.traffic = traffic
        self.golden = golden
        self.judge = judge
        self.entry_answer = np.full(len(traffic.texts), NONE)
        self.entry_kind = np.full(len(traffic.texts), NONE, np.int8)
        self.verdicts: dict[tuple[int, int], Verdict] = {}
        self._known = dict(zip(golden.texts, golden.answers, strict=True))

    def ask(self, question: int, true_answer: int) -> Asked:
        """Serve one question; a miss is filled with the true answer, a grey one is judged after it was served."""
        text = self.traffic.texts[question]
        if text in self._known:
            return Asked("static_hit", self._known[text], True)
        if self.entry_kind[question] != NONE:
            return Asked("dynamic_hit", int(self.entry_answer[question]), self.entry_kind[question] == PROMOTED)
        places, near = self.traffic.around(question, self.golden)
        entry_place, entry = self._entry(question)
        decision = policies.decide(text, self.policy, near, entry)
        served = self._served(decision.outcome, places, entry_place, true_answer)
        if served.outcome == "miss":
            self._write(question, true_answer, GENERATED)
        return self._judged(question, places, decision, served)

    def _entry(self, question: int) -> tuple[int, policies.Near | None]:
        row = np.where(self.entry_kind != NONE, self.traffic.similar[question], np.float32(-2))
        place = int(row.argmax())
        if row[place] < -1.5:
            return NONE, None
        answer = str(self.entry_answer[place]) if self.entry_kind[place] == PROMOTED else None
        return place, policies.Near(self.traffic.texts[place], float(row[place]), answer)

    def _served(self, outcome: str, places: list[int], entry_place: int, true_answer: int) -> Asked:
        if outcome == "static_hit":
            return Asked(outcome, self.golden.answers[places[0]], True)
        if outcome == "dynamic_hit":
            return Asked(outcome, int(self.entry_answer[entry_place]), self.entry_kind[entry_place] == PROMOTED)
        return Asked("miss", true_answer, False)

    def _judged(self, question: int, places: list[int], decision: policies.Decision, served: Asked) -> Asked:
        """Verify a near miss once and promote what was approved."""
        if self.judge is None or not decision.grey or not places or (question, places[0]) in self.verdicts:
            return served
        similarity = decision.similarity_static or 0.0
        verdict = self.judge(question, places[0], similarity, decision.margin if decision.margin is not None else 1.0)
        self.verdicts[question, places[0]] = verdict
        if verdict is Verdict.APPROVE:
            self._write(question, self.golden.answers[places[0]], PROMOTED)
        return Asked(served.outcome, served.answer, served.from_golden, verdict)

    def _write(self, question: int, answer: int, kind: int) -> None:
        self.entry_answer[question], self.entry_kind[question] = answer, kind
