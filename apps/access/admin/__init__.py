"""The console's door: what its pages share, and the pages of people, keys and the audit log."""

from apps.access.admin import audit, keys, people

__all__ = ["audit", "keys", "people"]
