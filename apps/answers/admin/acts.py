"""The acts of a golden answer's life: which of them are open to a person, and doing one or many."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

from django.contrib import messages
from django.db.models import QuerySet
from django.http import HttpRequest
from django.utils.dateparse import parse_datetime
from django.utils.translation import gettext as _
from django.utils.translation import gettext_lazy as lazy
from unfold.decorators import action

from apps.access import services as access
from apps.access.admin.desk import demand, explain, may
from apps.access.core.callers import Caller
from apps.answers.models import GoldenAnswer
from apps.answers.services import golden

Status = GoldenAnswer.Status
MOST_AT_ONCE = 500


@dataclass(frozen=True, slots=True)
class Act:
    """A button: what it says, whether it asks first, and why it is barred if it is."""

    verb: str
    label: str
    kind: str = "plain"
    ask: str = ""
    reason: bool = False
    barred: str = ""


def open_to(request: HttpRequest, row: GoldenAnswer) -> list[Act]:
    """List the acts that make sense now, the likeliest first."""
    if not may(request, "curator"):
        return []
    caller = demand(request, "curator")
    own = row.namespace.four_eyes and row.author == caller.name
    back = Act("send_back", _("Send back…"), ask=_("It becomes a draft again; its author sees why."), reason=True)
    barred = _("You wrote this text; somebody else must approve it.") if own else ""
    steps = {
        Status.DRAFT: [Act("submit", _("Submit for review"), "primary")],
        Status.IN_REVIEW: [Act("approve", _("Approve"), "primary", barred=barred), back],
        Status.APPROVED: [Act("publish", _("Publish"), "primary"), back],
    }
    found = list(steps.get(Status(row.status), []))
    if row.in_force_id:
        ask = _("It stops being served at once, and every promotion to it is retracted.")
        found.append(Act("retire", _("Retire…"), "danger", ask=ask))
    elif not row.versions.exists():
        found.append(Act("remove", _("Delete…"), "danger", ask=_("It was never published, so nothing of it is kept.")))
    return found


def perform(request: HttpRequest, row: GoldenAnswer, verb: str) -> None:
    """Do one act and say what came of it.

    Raises:
        ProblemError: the service refuses, or the text is not the one that the person saw.
    """
    caller = demand(request, "curator")
    if verb not in VERBS:
        raise access.Missing(_("There is no such act."))
    seen = parse_datetime(request.POST.get("seen", ""))
    if verb in {"approve", "publish", "submit"} and seen is not None and seen != row.updated_at:
        raise access.Conflict(_("This text was changed since you opened it. Read it again first."))
    do, said = VERBS[verb]
    do(caller, row, request.POST.get("reason", ""))
    messages.success(request, str(said))


VERBS: dict[str, tuple[Callable[[Caller, GoldenAnswer, str], Any], Any]] = {
    "submit": (lambda caller, row, _why: golden.submit(caller, row.pk), lazy("Submitted for review.")),
    "approve": (lambda caller, row, _why: golden.approve(caller, row.pk), lazy("Approved. It can be published now.")),
    "publish": (lambda caller, row, _why: golden.publish(caller, row.pk), lazy("Published: it is served from now on.")),
    "retire": (lambda caller, row, _why: golden.retire(caller, row.pk), lazy("Retired: it is served no more.")),
    "send_back": (lambda caller, row, why: golden.send_back(caller, row.pk, why), lazy("Sent back to its author.")),
    "remove": (lambda caller, row, _why: golden.remove(caller, row.pk), lazy("Deleted.")),
}


class BulkActs:
    """The same acts for the selected rows of a list."""

    has_add_permission: Callable[..., bool]

    def has_curate_permission(self, request: HttpRequest) -> bool:
        """Only curators act."""
        return may(request, "curator")

    @action(description=lazy("Submit for review"), permissions=["curate"])
    def submit_selected(self, request: HttpRequest, rows: QuerySet[GoldenAnswer]) -> None:
        """Submit the selected drafts."""
        _each(request, rows, golden.submit)

    @action(description=lazy("Approve"), permissions=["curate"])
    def approve_selected(self, request: HttpRequest, rows: QuerySet[GoldenAnswer]) -> None:
        """Approve what is selected and in review."""
        _each(request, rows, golden.approve)

    @action(description=lazy("Publish"), permissions=["curate"])
    def publish_selected(self, request: HttpRequest, rows: QuerySet[GoldenAnswer]) -> None:
        """Publish what is selected and approved."""
        _each(request, rows, golden.publish)

    @action(description=lazy("Retire"), permissions=["curate"])
    def retire_selected(self, request: HttpRequest, rows: QuerySet[GoldenAnswer]) -> None:
        """Retire what is selected and in force."""
        _each(request, rows, golden.retire)


def _each(request: HttpRequest, rows: QuerySet[GoldenAnswer], verb: Callable[..., Any]) -> None:
    """Do an act to each row by itself; what is refused is told and does not stop the others."""
    caller, done, refused = demand(request, "curator"), 0, dict[str, int]()
    for key in rows.order_by("pk").values_list("pk", flat=True)[:MOST_AT_ONCE]:
        try:
            verb(caller, key)
            done += 1
        except access.ProblemError as problem:
            why = explain(problem)
            refused[why] = refused.get(why, 0) + 1
    if done:
        messages.success(request, _("Done for %d golden answers.") % done)
    for why, count in refused.items():
        messages.warning(request, _("Refused for %(count)d: %(why)s") % {"count": count, "why": why})
