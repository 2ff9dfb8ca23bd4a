"""Read public question sets, and their vectors from disk where they were computed before."""

from __future__ import annotations

import csv
import hashlib
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from apps.answers.core.embedding import MiniLM
from apps.answers.core.embedding.embedder import Embedder

Vectors = NDArray[np.float32]


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
