"""What a workspace can know after its history: labels of near misses, and the judges fitted on them."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

from apps.answers.core import guards
from apps.answers.core.judge import Example, Exemplars, OfflineJudge, Pair, Verdict
from apps.answers.core.policy import margin_of
from apps.answers.core.simulation.cache import Golden, Traffic
from apps.answers.core.simulation.stream import Stream

LABELS = 200
GREY = (0.5, 0.95)


class Labels:
    """Labelled near misses of history: each question against its nearest golden question."""

    def __init__(self, stream: Stream, traffic: Traffic, golden: Golden, questions: Sequence[int]) -> None:
        self.stream, self.traffic, self.golden = stream, traffic, golden
        self.questions = list(questions)
        self.place = {question: place for place, question in enumerate(self.questions)}
        self.answers = [golden.answers[traffic.around(question, golden)[0][0]] for question in self.questions]
        self.same = [int(stream.classes[q]) == answer for q, answer in zip(self.questions, self.answers, strict=True)]
        self.exemplars = Exemplars(stream.vectors[self.questions], self.answers, self.same)

    def around(self, question: int) -> dict[str, float]:
        """Measure any question against the labels, leaving its own out."""
        places, near = self.traffic.around(question, self.golden)
        labelled = question in self.place
        vector, answer = self.stream.vectors[question], self.golden.answers[places[0]]
        return self.exemplars.features(vector, answer, near[0].similarity, margin_of(near), labelled=labelled)

    def examples(self, *, with_labels_around: bool) -> list[Example]:
        """Give the labels as the offline judge learns from them."""
        found = []
        for question, same in zip(self.questions, self.same, strict=True):
            near = self.traffic.around(question, self.golden)[1]
            around = self.around(question) if with_labels_around else {}
            guarded = with_labels_around and bool(guards.fired(self.traffic.texts[question], near[0].text, {}))
            found.append(Example(near[0].similarity, margin_of(near), same, around, guarded))
        return found


class PlainJudge:
    """The offline judge on cosine and margin, fitted on labels drawn at random; what the labels say is not reused."""

    def __init__(self, labels: Labels) -> None:
        self.labels = labels
        self.offline = OfflineJudge.fit(labels.examples(with_labels_around=False))

    def __call__(self, question: int, golden: int, similarity: float, margin: float) -> Verdict:
        """Judge a pair by its numbers alone."""
        return self.offline.judge(Pair("", "", "", similarity, margin)).verdict


class TaughtJudge:
    """The product's way: people label what is asked most, their verdicts hold, and labels are examples for the rest."""

    def __init__(self, labels: Labels) -> None:
        self.labels = labels
        self.offline = OfflineJudge.fit(labels.examples(with_labels_around=True))
        self._said: dict[int, Verdict] = {}

    def __call__(self, question: int, golden: int, similarity: float, margin: float) -> Verdict:
        """Give the label if there is one, else judge by the golden tier and the labels around."""
        if question not in self._said:
            self._said[question] = self._judge(question, golden, similarity, margin)
        return self._said[question]

    def _judge(self, question: int, golden: int, similarity: float, margin: float) -> Verdict:
        place = self.labels.place.get(question)
        if place is not None:
            return Verdict.APPROVE if self.labels.same[place] else Verdict.REJECT
        texts = self.labels.traffic.texts[question], self.labels.golden.texts[golden]
        pair = Pair(*texts, "", similarity, margin, self.labels.around(question))
        return self.offline.judge(pair).verdict


def near_misses(stream: Stream, traffic: Traffic, golden: Golden) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
    """Give the distinct questions of history in the grey zone, and how often each was asked."""
    asked, counts = np.unique(stream.history, return_counts=True)
    known = set(golden.texts)
    best = traffic.golden[asked].max(1)
    grey = (best >= GREY[0]) & (best < GREY[1]) & np.array([stream.texts[q] not in known for q in asked])
    return asked[grey], counts[grey]


def at_random(stream: Stream, traffic: Traffic, golden: Golden, seed: int) -> Labels:
    """Label near misses drawn at random."""
    asked, _ = near_misses(stream, traffic, golden)
    chosen = np.random.default_rng(seed).permutation(asked)[:LABELS]
    return Labels(stream, traffic, golden, [int(question) for question in chosen])


def most_asked(stream: Stream, traffic: Traffic, golden: Golden) -> Labels:
    """Label the near misses that were asked most: a verdict on them is worth most by itself."""
    asked, counts = near_misses(stream, traffic, golden)
    chosen = asked[np.argsort(-counts, kind="stable")[:LABELS]]
    return Labels(stream, traffic, golden, [int(question) for question in chosen])
