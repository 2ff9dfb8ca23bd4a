"""Questions with categories: a history that makes golden answers and labels, and a stream with popular questions."""

from __future__ import annotations

import csv
import json
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np

from apps.answers.core import text as texts
from apps.answers.core.embedding import MiniLM
from apps.answers.core.simulation.stream import HISTORY, Stream, draw, medoids

MOST_LABELS = 200
LEAST_SIMILAR = 0.5


@dataclass(frozen=True, slots=True)
class Traffic:
    """What the demo sends: golden answers as JSON lines, labelled pairs, and the questions in order.

    `category` knows every question by its normal form; it is the truth that an oracle judges by.
    """

    golden: str
    pairs: list[dict[str, Any]]
    questions: list[str]
    category: dict[str, str]

    def truth(self, question: str) -> str | None:
        """Give the category of a question."""
        return self.category.get(texts.normalise(question))


def read(path: Path) -> list[tuple[str, str]]:
    """Read a CSV with the columns `text,category`; questions that are no text, or there twice, are left out.

    Raises:
        ValueError: the columns are not there, or nothing is in them.
    """
    with path.open(newline="", encoding="utf-8-sig") as file:
        rows = csv.DictReader(file)
        if not {"text", "category"} <= set(rows.fieldnames or ()):
            raise ValueError(f"{path} needs the columns text,category")
        found = {texts.normalise(row["text"]): (row["text"], row["category"]) for row in rows if _usable(row)}
    if not found:
        raise ValueError(f"{path} holds no questions")
    return list(found.values())


def traffic(rows: list[tuple[str, str]], namespace: str, count: int, seed: int) -> Traffic:
    """Draw a stream of `count` questions by Zipf laws, after a history that golden answers and labels come from."""
    names = sorted({category for _, category in rows})
    classes = np.array([names.index(category) for _, category in rows], np.int64)
    blank = np.zeros((len(rows), MiniLM.dimension), np.float32)
    drawn = draw([question for question, _ in rows], blank, classes, seed, length=round(count / (1 - HISTORY)))
    _embed_history(drawn)
    chosen = medoids(drawn, 1)
    category = {texts.normalise(question): name for question, name in rows}
    return Traffic(
        golden="".join(_golden(drawn, chosen, names, namespace)),
        pairs=list(_pairs(drawn, chosen)),
        questions=[drawn.texts[place] for place in drawn.measured],
        category=category,
    )


def answer_of(category: str) -> str:
    """Write the answer that everything in a category gets."""
    return f"This is the answer about {category.replace('_', ' ')}."


def _usable(row: dict[str, Any]) -> bool:
    try:
        texts.check_question(row["text"] or "")
    except ValueError:
        return False
    return bool(row["category"])


def _embed_history(drawn: Stream) -> None:
    """Compute the vectors of the history only; the rest is embedded by the site."""
    seen = np.unique(drawn.history)
    drawn.vectors[seen] = MiniLM().embed([drawn.texts[place] for place in seen])


def _golden(drawn: Stream, chosen: list[int], names: list[str], namespace: str) -> Iterator[str]:
    for place in chosen:
        name = names[drawn.classes[place]]
        values = {
            "question": drawn.texts[place],
            "answer": answer_of(name),
            "namespace": namespace,
            "tags": [name[:60]],
        }
        yield json.dumps(values) + "\n"


def _pairs(drawn: Stream, chosen: list[int]) -> Iterator[dict[str, Any]]:
    """Label questions of the history against their nearest golden question, as a curator would."""
    others = np.setdiff1d(np.unique(drawn.history), chosen)[:MOST_LABELS]
    similar = drawn.vectors[others] @ drawn.vectors[chosen].T
    for place, row in zip(others, similar, strict=True):
        best = int(row.argmax())
        if row[best] >= LEAST_SIMILAR:
            same = bool(drawn.classes[place] == drawn.classes[chosen[best]])
            yield {"question": drawn.texts[place], "golden_question": drawn.texts[chosen[best]], "same": same}
