"""Recall of the filtered search against exact search, and what a search costs as the table grows."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator
from typing import Any
from uuid import UUID

import numpy as np
from numpy.typing import NDArray

from apps.answers.bench import filling
from apps.answers.models import Entry, tiers
from apps.answers.services import powers

PROBES = 1_000


def rows(*, quick: bool, say: Callable[[str], None]) -> Iterator[dict[str, Any]]:
    """Yield rows of part `recall`: one namespace of 1,000 entries, 50 of 2,000, and one of 100,000."""
    sizes = [(1_000, 1), (10_000, 5)] if quick else [(1_000, 1), (100_000, 50), (100_000, 1)]
    for entries, namespaces in sizes:
        say(f"recall: {entries} entries in {namespaces} namespaces")
        Entry.objects.all().delete()
        caller, _ = filling.bench_caller()
        vectors = filling.cloud(entries, seed=entries)
        share = entries // namespaces
        ids = []
        for number in range(namespaces):
            row = filling.namespace(caller, f"recall-{number}")
            part = slice(number * share, (number + 1) * share)
            filling.fill(row.id, [f"question {number} {i}" for i in range(share)], vectors[part])
            ids.append(row.id)
        filling.settle()
        yield {"part": "recall", "entries": entries, "namespaces": namespaces, **_measure(ids, vectors, share)}
    Entry.objects.all().delete()


def _measure(ids: list[UUID], vectors: NDArray[np.float32], share: int) -> dict[str, float]:
    """Ask for neighbours of fresh points near known ones; exact search runs over the same half-precision numbers."""
    random = np.random.default_rng(1)
    halves = vectors.astype(np.float16).astype(np.float32)
    halves /= np.linalg.norm(halves, axis=1, keepdims=True)
    right, spent = 0, []
    for _ in range(PROBES):
        place = int(random.integers(len(ids)))
        own = halves[place * share : (place + 1) * share]
        probe = own[random.integers(share)] + 0.35 * random.normal(size=own.shape[1]) / np.sqrt(own.shape[1])
        probe = np.asarray(probe / np.linalg.norm(probe), np.float32)
        started = time.perf_counter()
        found = tiers.nearest(ids[place], b"", powers.embedder().name, probe).entry
        spent.append(time.perf_counter() - started)
        right += found is not None and found.similarity >= float((own @ probe).max()) - 2e-4
    return {"recall_at_1": right / PROBES, "p50_ms": float(np.median(spent) * 1e3)}
