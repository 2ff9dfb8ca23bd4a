"""Traces to measure with: the REAL one of MOOC viewers, and GENERATED ones that behave like it."""

from apps.segments.bench.traces.lectures import generated
from apps.segments.bench.traces.playing import Played, Playing, trace_of
from apps.segments.bench.traces.xapi import plays, real

__all__ = ["Played", "Playing", "generated", "plays", "real", "trace_of"]
