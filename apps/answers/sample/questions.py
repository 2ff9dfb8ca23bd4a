"""Golden answers of the made-up product Lumen, with pairs to learn from and questions to test with."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from functools import lru_cache
from pathlib import Path
from typing import Any

import yaml

TOPICS = ("account", "billing", "installation", "schedules", "energy", "household", "troubleshooting", "privacy")


@dataclass(frozen=True, slots=True)
class SampleAnswer:
    """One golden answer and the questions around it.

    `same` and `different` are labelled questions for the offline judge; `paraphrases` (a judge should approve them)
    and `traps` (kind of trap -> a question that must never be served this answer) are held out.
    """

    topic: str
    question: str
    aliases: tuple[str, ...]
    answer: str
    tags: tuple[str, ...]
    same: tuple[str, ...]
    different: tuple[str, ...]
    paraphrases: tuple[str, ...]
    traps: Mapping[str, str]


@dataclass(frozen=True, slots=True)
class LabelledText:
    """A question, a golden question, and whether the golden answer answers both."""

    question: str
    golden_question: str
    same: bool


@lru_cache(maxsize=1)
def answers() -> tuple[SampleAnswer, ...]:
    """Read every golden answer, topic by topic."""
    return tuple(_answer(topic, values) for topic in TOPICS for values in _read(topic))


def labels() -> list[LabelledText]:
    """List the labelled pairs, those of one golden answer together."""
    return [
        LabelledText(question, row.question, same)
        for row in answers()
        for same, questions in ((True, row.same), (False, row.different))
        for question in questions
    ]


def _read(topic: str) -> list[dict[str, Any]]:
    text = (Path(__file__).parent / f"{topic}.yaml").read_text(encoding="utf-8")
    rows: list[dict[str, Any]] = yaml.load(text, Loader=getattr(yaml, "CSafeLoader", yaml.SafeLoader))  # noqa: S506
    return rows


def _answer(topic: str, values: dict[str, Any]) -> SampleAnswer:
    lists = {name: tuple(values[name]) for name in ("aliases", "tags", "same", "different", "paraphrases")}
    fields: dict[str, Any] = {**values, **lists}
    return SampleAnswer(topic=topic, **fields)
