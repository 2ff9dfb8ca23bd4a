"""Read public question sets, and their vectors from disk where they were computed before."""

from __future__ import annotations

import csv
import hashlib
import itertools
from collections import Counter
from dataclasses import dataclass, field
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from apps.answers.bench.filling import cloud
from apps.answers.core.embedding import MiniLM
from apps.answers.core.embedding.embedder import Embedder

Vectors = NDArray[np.float32]
PREFIX = "Hello, "  # turns a stored question into a near one
STRIDE = 7  # asks the stored questions out of order
VERBS = ("open", "close", "move", "rename", "share", "print", "export", "lock", "order", "repair", "clean", "sell")
THINGS = (
    "account",
    "invoice",
    "garden gate",
    "passport",
    "bicycle",
    "oven",
    "library card",
    "contract",
    "boat",
    "sofa",
)
PLACES = ("abroad", "at night", "by phone", "for a friend", "from work", "in winter", "online", "with a voucher")


def banking77(folder: Path) -> tuple[list[str], list[str]]:
    """Read questions and classes from train.csv and test.csv (`text,category`)."""
    rows = []
    for name in ("train.csv", "test.csv"):
        with (folder / name).open(newline="") as file:
            rows += [(row["text"], row["category"]) for row in csv.DictReader(file)]
    return [text for text, _ in rows], [label for _, label in rows]


def hwu64(folder: Path) -> tuple[list[str], list[str]]:
    """Read questions and classes from *.seq.in and *.label, line by line."""
    texts, labels = [], []
    for name in ("train", "valid", "test"):
        texts += (folder / f"{name}.seq.in").read_text().splitlines()
        labels += (folder / f"{name}.label").read_text().splitlines()
    return texts, labels


def made() -> tuple[list[str], list[str]]:
    """Make questions where no data are at hand; what they are about is their class."""
    found = [
        (f"How do I {verb} my {thing} {place}?", thing)
        for verb, thing, place in itertools.product(VERBS, THINGS, PLACES)
    ]
    return [text for text, _ in found], [label for _, label in found]


READERS = {"banking77": banking77, "hwu64": hwu64}


def embedded(texts: list[str], cache: Path | None, embedder: Embedder | None = None) -> Vectors:
    """Embed texts, or read their vectors from the cache folder."""
    embedder = embedder or MiniLM()
    digest = hashlib.sha256("\n".join([embedder.name, *texts]).encode()).hexdigest()[:24]
    path = cache / f"vectors-{digest}.npy" if cache else None
    if path and path.exists():
        return np.asarray(np.load(path), np.float32)
    vectors = embedder.embed(texts)
    if path:
        path.parent.mkdir(parents=True, exist_ok=True)
        np.save(path, vectors)
    return vectors


@dataclass(slots=True)
class Pool:
    """Questions with vectors (n, dimension) and classes to store, and an endless supply of ones never asked before.

    `stored` is how many of them the caches hold now.
    """

    texts: list[str]
    vectors: Vectors
    classes: list[str]
    turns: Counter[str] = field(default_factory=Counter)
    stored: int = 0

    def __post_init__(self) -> None:
        self.stored = self.stored or len(self.texts)

    def store(self, entries: int) -> int:
        """Store as many of `entries` as there are real questions, and say how many."""
        self.stored = min(entries, len(self.texts))
        return self.stored

    def filler(self, entries: int) -> tuple[list[str], Vectors]:
        """Give the rest: texts nobody asks, with a cloud of vectors."""
        rest = entries - self.store(entries)
        return [f"filler {number}" for number in range(rest)], cloud(rest, seed=7, dimension=self.vectors.shape[1])

    def next(self, case: str) -> str:
        """Give a question that is stored (`exact`), near a stored one (`semantic`), or like none (`miss`)."""
        turn = self.turns[case]
        self.turns[case] += 1
        rounds, place = divmod(turn * STRIDE, self.stored)
        if case == "miss":
            return f"Which number follows {turn} in row {turn * 13}?"
        stored = self.texts[place]
        return stored if case == "exact" else f"{PREFIX}{stored}{'?' * (rounds // STRIDE)}{'!' * (rounds % STRIDE)}"


def pool(questions: Path, most: int, cache: Path | None) -> Pool:
    """Read the questions of banking77, or make some; distinct ones, and at most so many."""
    folder = questions / "banking77"
    texts, classes = banking77(folder) if folder.is_dir() else made()
    distinct = dict(zip((" ".join(text.split()) for text in texts), classes, strict=True))
    chosen = list(distinct)[:most]
    return Pool(chosen, embedded(chosen, cache), [distinct[text] for text in chosen])
