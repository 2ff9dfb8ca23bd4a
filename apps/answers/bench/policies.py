"""Policies on streams of real questions: a tuned threshold, Krites with two judges, Touchstone."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import numpy as np

from apps.answers.bench.questions import READERS, embedded
from apps.answers.core.simulation import stream, study

SEEDS = (6, 7, 8)  # 0 to 5 were used to choose the stream, the features and the labels; they are never reported


def rows(questions: Path, *, quick: bool, say: Callable[[str], None], cache: Path | None) -> Iterator[dict[str, Any]]:
    """Yield the rows of parts `policy`, `equal_error` and `geometry`."""
    names = ["banking77"] if quick else ["banking77", "hwu64"]
    for name in names:
        if not (questions / name).is_dir():
            say(f"{name} is not in {questions}; it is left out")
            continue
        texts, labels = READERS[name](questions / name)
        say(f"{name}: {len(texts)} questions in {len(set(labels))} classes")
        vectors = embedded(texts, cache)
        classes = np.unique(labels, return_inverse=True)[1].astype(np.int64)
        streams = [stream.draw(texts, vectors, classes, seed) for seed in (SEEDS[:1] if quick else SEEDS)]
        for per_class in (1,) if quick else (1, 3):
            for seed, one in zip(SEEDS, streams, strict=False):
                say(f"{name}: seed {seed}, {per_class} golden per class")
                yield from study.policy_rows(name, one, seed, per_class)
                if per_class == 1:
                    yield from study.geometry_rows(name, one, seed, per_class)
            say(f"{name}: thresholds swept, {per_class} golden per class")
            yield from study.equal_error_rows(name, streams, per_class)
