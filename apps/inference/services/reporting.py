"""Tell the dashboard how the inference cache stands."""

from __future__ import annotations


def register() -> None:
    """Register with the dashboard."""
