"""Run every policy over the real trace and over generated ones that chose nothing."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import replace
from pathlib import Path
from typing import Any

from apps.segments.bench import peer, planning, prediction, traces
from apps.segments.core import simulator
from apps.segments.core.simulator import FAST, SLOW, Knowledge, Outcome, Score, Trace

SHARES = (0.02, 0.05, 0.1, 0.2, 0.4)
TUNING_SEED = 1  # the settings of the policy were chosen on this one; it is not reported
SEEDS = (2, 3)
CHECKED_SHARE = 0.1  # where our LRU is compared with another one
Row = dict[str, Any]
Say = Callable[[str], None]


def run(data: Path, *, quick: bool, say: Say) -> Iterator[Row]:
    """Yield one row for each trace, size, policy and origin.

    Args:
        data: a folder that holds `potsie_xapi/` and `bandwidth_fcc_hsdpa/`.
        quick: one generated seed, one size of cache, peers of our own only.
        say: told what is being done, and what predictors are worth.
    """
    say(planning.line())
    for trace in _traces(data, quick=quick, say=say):
        _compile(trace)
        known = simulator.learn(trace, simulator.middle(trace))
        for line in prediction.lines(trace):
            say(line)
        for share in (0.1,) if quick else SHARES:
            yield from rows(trace, known, share, peers=not quick, say=say)


def _compile(trace: Trace) -> None:
    """Run every policy over a few requests, so that no measured run pays for compiling."""
    count = min(2000, len(trace))
    columns = {name: getattr(trace, name)[:count] for name in ("at", "row", "session", "start")}
    short = replace(trace, **columns)
    known = simulator.learn(short, float(short.at[-1]))
    for name in simulator.NAMES:
        simulator.run(name, short, short.footprint // 2, known)


def _traces(data: Path, *, quick: bool, say: Say) -> Iterator[Trace]:
    say("reading the real trace")
    yield traces.real(data)
    for seed in SEEDS[:1] if quick else SEEDS:
        say(f"generating with seed {seed}")
        yield traces.generated(data, seed)


def rows(trace: Trace, known: Knowledge, share: float, *, peers: bool, say: Say) -> Iterator[Row]:
    """Measure all policies with a cache of a share of the trace's footprint; peers in the same run, in between."""
    capacity = int(trace.footprint * share)
    outcomes: dict[str, Outcome] = {}
    for name in simulator.NAMES:
        say(f"{trace.name} {trace.seed}, cache {share:.0%}: {name}")
        outcomes[name] = simulator.run(name, trace, capacity, known)
    if peers:
        outcomes.update(peer.outcomes(trace, capacity, outcomes["lru"] if share == CHECKED_SHARE else None, say))
    scores = {name: simulator.score(trace, outcome) for name, outcome in outcomes.items()}
    for name, outcome in outcomes.items():
        for origin in (FAST, SLOW):
            start = simulator.starts(trace, outcome, origin)
            yield {
                "trace": trace.name,
                "seed": trace.seed,
                "cache_share": share,
                "policy": name,
                **_numbers(scores[name], scores["lru"], scores["belady"]),
                **dict(zip(("start_hit", "start_p50_s", "start_p95_s"), start, strict=True)),
                "origin": origin.name,
                "daily_peak_bps": scores[name].daily_peak_bps,
                "requests_per_s": outcome.requests_per_s,
            }


def _numbers(own: Score, lru: Score, best: Score) -> Row:
    between = best.byte_hit - lru.byte_hit
    return {
        "byte_hit": own.byte_hit,
        "request_hit": own.request_hit,
        "origin_bytes": own.origin_bytes,
        "demand_bytes": own.demand_bytes,
        "prewarm_bytes": own.prewarm_bytes,
        "waste_share": own.waste_share,
        "gap_closed": (own.byte_hit - lru.byte_hit) / between if between else 0.0,
    }
