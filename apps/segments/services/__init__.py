"""Verbs of the segment cache, the same from every door."""

from apps.segments.services.clockwork import minute, tick

__all__ = ["minute", "tick"]
