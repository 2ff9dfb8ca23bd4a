"""What was measured: times per case and repetition, told as medians over repetitions."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import asdict, dataclass, field
from typing import Any

import numpy as np

from apps.answers.bench.client import Reply


@dataclass(frozen=True, slots=True)
class Case:
    """One cell of the table."""

    system: str
    door: str
    case: str
    entries: int
    clients: int
    judge: str = "idle"

    def expects(self, reply: Reply) -> bool:
        """Say whether a reply is what this case is about; others are not counted."""
        return reply.hit == (self.case != "miss")


@dataclass(slots=True)
class Measured:
    """Repetitions of every case: (times in ms, times without embedding in ms, requests a second)."""

    found: dict[Case, list[tuple[list[float], list[float], float]]] = field(default_factory=dict)
    asked: int = 0
    strange: int = 0

    def add(self, case: Case, replies: Sequence[Reply], seconds: float) -> None:
        """Take one repetition; `seconds` is what all of its requests took together."""
        good = [reply for reply in replies if case.expects(reply)]
        self.asked += len(replies)
        self.strange += len(replies) - len(good)
        if good:
            times = [reply.ms for reply in good], [reply.ms - reply.embed_ms for reply in good]
            self.found.setdefault(case, []).append((*times, len(replies) / seconds))

    def rows(self) -> Iterator[dict[str, Any]]:
        """Yield part `path`, and for one client in process the same without the time of the embedder."""
        for case, repetitions in self.found.items():
            yield _row("path", case, [(whole, rate) for whole, _, rate in repetitions])
        for case, repetitions in self.found.items():
            if case.door == "process":
                bare = [(rest, 1e3 / float(np.mean(rest))) for _, rest, _ in repetitions]
                yield _row("path_without_embedding", case, bare)


def _row(part: str, case: Case, repetitions: Sequence[tuple[list[float], float]]) -> dict[str, Any]:
    quantiles = np.median([np.percentile(times, [50, 95, 99]) for times, _ in repetitions], axis=0)
    p50, p95, p99 = (float(value) for value in quantiles)
    rate = float(np.median([rate for _, rate in repetitions]))
    return {"part": part, **asdict(case), "p50_ms": p50, "p95_ms": p95, "p99_ms": p99, "per_s": rate}
