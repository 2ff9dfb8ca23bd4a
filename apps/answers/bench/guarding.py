"""Guards on adversarial pairs: how many traps hit, and how many paraphrases, at one threshold."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

from apps.answers.core import guards
from apps.answers.core.embedding import MiniLM
from apps.answers.core.policy import Near, Policy, decide

TAU = 0.85


def rows(questions: Path, *, say: Callable[[str], None]) -> Iterator[dict[str, Any]]:
    """Yield one row with guards and one without."""
    path = questions / "gsc_banking_adversarial" / "pairs.jsonl"
    if not path.exists():
        say(f"{path} is not there; the pairs are left out")
        return
    pairs = [json.loads(line) for line in path.read_text().splitlines() if line.strip()]
    say(f"gsc_banking_adversarial: {len(pairs)} pairs")
    embedder = MiniLM()
    mine = embedder.embed([pair["query"] for pair in pairs])
    theirs = embedder.embed([pair["cached_query"] for pair in pairs])
    for name, on in (("off", False), ("on", True)):
        policy = Policy(tau_static=TAU, sigma_min=TAU, guards=dict.fromkeys(guards.NAMES, on))
        hits = [
            decide(pair["query"], policy, [Near(pair["cached_query"], float(a @ b), "golden")], None).outcome != "miss"
            for pair, a, b in zip(pairs, mine, theirs, strict=True)
        ]
        traps = [hit for hit, pair in zip(hits, pairs, strict=True) if not pair["expected_cache_hit"]]
        right = [hit for hit, pair in zip(hits, pairs, strict=True) if pair["expected_cache_hit"]]
        yield {
            "part": "pairs",
            "data": "gsc_banking_adversarial",
            "guards": name,
            "wrong_hits": sum(traps) / len(traps),
            "right_hits": sum(right) / len(right),
            "traps": len(traps),
            "paraphrases": len(right),
        }
