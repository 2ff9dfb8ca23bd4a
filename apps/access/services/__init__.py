"""Verbs of access: recognise a caller, issue and revoke keys, limit rates, write the audit log."""

from apps.access.services.audit import record
from apps.access.services.callers import caller_for_user, forget_on_commit, recognise, workspaces_of
from apps.access.services.errors import (
    Conflict,
    Invalid,
    Limited,
    Missing,
    ProblemError,
    TooLarge,
    Unavailable,
    Unparsable,
    WrongKind,
)
from apps.access.services.idempotency import remembered
from apps.access.services.keys import issue, revoke
from apps.access.services.members import admit, dismiss, names
from apps.access.services.rates import epoch, renew_epoch, spend, valkey
from apps.access.services.views import remove_view, save_view, views

__all__ = [
    "Conflict",
    "Invalid",
    "Limited",
    "Missing",
    "ProblemError",
    "TooLarge",
    "Unavailable",
    "Unparsable",
    "WrongKind",
    "admit",
    "caller_for_user",
    "dismiss",
    "epoch",
    "forget_on_commit",
    "issue",
    "names",
    "recognise",
    "record",
    "remembered",
    "remove_view",
    "renew_epoch",
    "revoke",
    "save_view",
    "spend",
    "valkey",
    "views",
    "workspaces_of",
]
