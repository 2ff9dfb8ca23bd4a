"""The sample's questions: well formed, apart from each other, and treated by the product as they claim."""

from __future__ import annotations

from functools import lru_cache

import numpy as np

from apps.answers import sample
from apps.answers.core.embedding import MiniLM
from apps.answers.core.policy import Decision, Near, Policy, decide
from apps.answers.core.text import normalise


@lru_cache(maxsize=1)
def embedder() -> MiniLM:
    return MiniLM()


@lru_cache(maxsize=1)
def golden() -> tuple[list[tuple[str, str]], np.ndarray]:
    wordings = [(text, row.question) for row in sample.answers() for text in (row.question, *row.aliases)]
    return wordings, embedder().embed([text for text, _ in wordings])


def decision(question: str) -> tuple[Decision, str | None]:
    wordings, vectors = golden()
    similar = vectors @ embedder().embed([question])[0]
    best = np.argsort(-similar)[:10]
    near = [Near(wordings[place][0], float(similar[place]), wordings[place][1]) for place in best]
    return decide(question, Policy(), near, None), near[0].answer


def test_sixty_answers_stand_in_eight_topics() -> None:
    rows = sample.answers()
    assert len(rows) == 60
    assert len({row.topic for row in rows}) == 8
    for row in rows:
        assert len(row.aliases) in {2, 3}
        assert row.tags and row.paraphrases and row.traps
        assert row.answer.endswith(".") and len(row.answer) > 80


def test_no_two_answers_share_a_wording_and_held_out_questions_are_held_out() -> None:
    wordings = [normalise(text) for row in sample.answers() for text in (row.question, *row.aliases)]
    assert len(wordings) == len(set(wordings))
    labelled = {normalise(label.question) for label in sample.labels()}
    for row in sample.answers():
        for question in row.paraphrases:
            assert normalise(question) not in labelled | set(wordings)


def test_every_label_names_a_golden_answer_and_never_contradicts_it() -> None:
    owners = {normalise(text): row.question for row in sample.answers() for text in (row.question, *row.aliases)}
    assert len(sample.labels()) >= 200
    for label in sample.labels():
        assert owners.get(normalise(label.question)) != label.golden_question
        assert label.golden_question in owners.values()
    assert {label.same for label in sample.labels()} == {True, False}


def test_no_trap_is_served_the_answer_it_is_a_trap_for() -> None:
    for row in sample.answers():
        for trap in row.traps.values():
            made, answer = decision(trap)
            assert made.outcome == "miss" or answer != row.question, trap


def test_most_paraphrases_are_near_misses_that_only_a_judge_can_approve() -> None:
    grey = right = 0
    for row in sample.answers():
        for question in row.paraphrases:
            made, answer = decision(question)
            assert made.outcome == "miss" or answer == row.question, question
            grey += made.grey
            right += made.grey and answer == row.question
    assert grey >= 45
    assert right >= 30
