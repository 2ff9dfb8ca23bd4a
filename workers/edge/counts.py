"""What the edge did since its last report, by outcome, and what that cost the origin."""

from __future__ import annotations

from collections import Counter
from typing import Any

from workers.edge.journal import Access

OUTCOMES = ("hit", "miss", "prewarm", "pinned_hit")


class Counts:
    """Requests and bytes by outcome; origin bytes by reason."""

    def __init__(self, state: dict[str, int] | None = None) -> None:
        self.numbers: Counter[str] = Counter(state or {})

    def take(self, access: Access) -> None:
        """Count one request; those that failed are counted apart."""
        if not access.good:
            self.numbers["failed:viewer" if access.source == "viewer" else "failed:prewarm"] += 1
            return
        outcome = access.outcome
        if outcome == "prewarm" and not access.origin_bytes:
            return  # it was there already
        self.numbers[f"requests:{outcome}"] += 1
        self.numbers[f"bytes:{outcome}"] += access.bytes if outcome != "prewarm" else access.size
        self.numbers[f"origin:{'prewarm' if access.source == 'prewarm' else 'demand'}"] += access.origin_bytes

    def report(self) -> dict[str, Any]:
        """Say it in the words of the report."""
        return {
            "outcomes": {
                name: {"requests": self.numbers[f"requests:{name}"], "bytes": self.numbers[f"bytes:{name}"]}
                for name in OUTCOMES
            },
            "origin_bytes": {name: self.numbers[f"origin:{name}"] for name in ("demand", "prewarm")},
            "failed": {name: self.numbers[f"failed:{name}"] for name in ("viewer", "prewarm")},
        }
