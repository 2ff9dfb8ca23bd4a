"""The console's first page; alarms, and who is told of them."""

from apps.metrics.admin import hooks

__all__ = ["hooks"]
