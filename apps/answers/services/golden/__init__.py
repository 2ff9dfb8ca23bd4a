"""Verbs of the golden tier: draft, submit, approve, publish, retire, and look for what stands too close."""

from apps.answers.services.golden.drafts import draft, edit, of, remove
from apps.answers.services.golden.history import (
    Change,
    Edition,
    changes,
    due_for_review,
    expired,
    expiring,
    promotions,
    versions,
)
from apps.answers.services.golden.publication import publish, put_in_force, retire
from apps.answers.services.golden.review import approve, send_back, submit
from apps.answers.services.golden.rivals import Rival, conflict_map, conflicts

__all__ = [
    "Change",
    "Edition",
    "Rival",
    "approve",
    "changes",
    "conflict_map",
    "conflicts",
    "draft",
    "due_for_review",
    "edit",
    "expired",
    "expiring",
    "of",
    "promotions",
    "publish",
    "put_in_force",
    "remove",
    "retire",
    "send_back",
    "submit",
    "versions",
]
