"""A simulator of edges: the same requests under every policy, at hundreds of thousands of requests a second."""

from apps.segments.core.simulator.knowledge import Knowledge, learn
from apps.segments.core.simulator.outcome import Outcome
from apps.segments.core.simulator.planner import Settings
from apps.segments.core.simulator.policies import NAMES, PLAIN, PLANNED, run
from apps.segments.core.simulator.score import Score, measured, middle, score, starts
from apps.segments.core.simulator.startup import FAST, SLOW, Origin
from apps.segments.core.simulator.trace import Sessions, Trace

__all__ = [
    "FAST",
    "NAMES",
    "PLAIN",
    "PLANNED",
    "SLOW",
    "Knowledge",
    "Origin",
    "Outcome",
    "Score",
    "Sessions",
    "Settings",
    "Trace",
    "learn",
    "measured",
    "middle",
    "run",
    "score",
    "starts",
]
