"""Tell the dashboard how the segments cache stands."""

from __future__ import annotations


def register() -> None:
    """Register with the dashboard."""
