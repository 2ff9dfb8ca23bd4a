"""The review queue: one pair at a time, the most informative first, decided by one key."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any
from uuid import UUID

from django.http import HttpRequest, HttpResponse, HttpResponseRedirect
from django.template.response import TemplateResponse
from django.urls import reverse
from django.utils.safestring import SafeString
from django.utils.translation import gettext as _
from django.utils.translation import ngettext

from apps.access import services as access
from apps.access.admin.desk import caller_of, demand, explain, may
from apps.access.admin.lists import count_up_to
from apps.answers import services
from apps.answers.admin.diffs import marked
from apps.answers.admin.spaces import as_uuid, spaces_of
from apps.answers.core.judge import RUBRIC, OfflineJudge
from apps.answers.core.policy import Policy
from apps.answers.models import Namespace, Verification
from apps.answers.services import judging

LOOKED_AHEAD = 200
MOST = 1_000
SAID = {"APPROVE": _("Approved"), "REJECT": _("Rejected"), "UNSURE": _("Left open")}


@dataclass(frozen=True, slots=True)
class Line:
    """One line of the rubric and its score from 0 to 1, if the judge gave one."""

    text: str
    score: float | None


@dataclass(frozen=True, slots=True)
class Shown:
    """A pair as the page shows it."""

    row: Verification
    question: SafeString
    golden_question: SafeString
    answer: str
    outdated: bool
    lines: list[Line]
    chance: float | None
    said_by: str
    policy: Policy


@dataclass(frozen=True, slots=True)
class Place:
    """Where a person stands in the queue of a namespace."""

    space: Namespace | None
    keys: list[UUID]
    waiting: int

    def after(self, key: UUID | None) -> UUID | None:
        """Give the pair behind one, or the first when that one has left the queue."""
        if key in self.keys:
            rest = self.keys[self.keys.index(key) + 1 :]
            return rest[0] if rest else None
        return self.keys[0] if self.keys else None

    def before(self, key: UUID | None) -> UUID | None:
        """Give the pair in front of one."""
        at = self.keys.index(key) if key in self.keys else 0
        return self.keys[at - 1] if at else None


def show(desk: Any, request: HttpRequest, said: str = "", at: UUID | None = None) -> HttpResponse:
    """Show the queue at a pair: as a page, or only the pair when a script asks."""
    asked = request.GET.get("namespace") or request.POST.get("namespace", "")
    place = _place(request, asked)
    key = at or as_uuid(request.GET.get("at", "")) or place.after(None)
    row = desk.get_queryset(request).select_related("namespace", "golden__in_force").filter(pk=key).first()
    context = {
        "pair": _shown(row) if row else None,
        "next": place.after(row.pk if row else None),
        "previous": place.before(row.pk if row else None),
        "number": place.keys.index(row.pk) + 1 if row and row.pk in place.keys else 0,
        "waiting": min(place.waiting, MOST),
        "more": place.waiting > MOST,
        "done": request.session.get("reviewed", 0),
        "last": as_uuid(str(request.session.get("reviewed_last", ""))),
        "space": place.space,
        "may_review": may(request, "curator"),
        "said": said,
    }
    if request.headers.get("HX-Request"):
        return TemplateResponse(request, "answers/review_pair.html", {**context, "alone": True})
    spaces = list(spaces_of(caller_of(request)))
    page: HttpResponse = desk.page(request, "answers/review.html", _("Review queue"), spaces=spaces, **context)
    return page


def decide(desk: Any, request: HttpRequest, row: Verification) -> HttpResponse:
    """Take a verdict, and go on to the next pair."""
    caller, verdict = demand(request, "curator"), request.POST.get("verdict", "")
    place = _place(request, row.namespace.name)
    following = place.after(row.pk) or next((key for key in place.keys if key != row.pk), None)
    try:
        if verdict not in SAID:
            raise access.Invalid(_("A verdict is to approve, to reject, or to leave open."))
        services.override(caller, row, verdict, request.POST.get("reason", "")[:2000])
    except access.ProblemError as problem:
        said, following = explain(problem), row.pk
    else:
        request.session["reviewed"] = request.session.get("reviewed", 0) + 1
        request.session["reviewed_last"] = str(row.pk)
        left = max(place.waiting - (row.pk in place.keys), 0)
        row.refresh_from_db(fields=["promotion"])
        said = _said(verdict, row.promotion, min(left, MOST))
    if request.headers.get("HX-Request"):
        return show(desk, request, said, following)
    desk.message_user(request, said)
    query = f"?namespace={row.namespace.name}" + (f"&at={following}" if following else "")
    return HttpResponseRedirect(reverse("admin:answers_verification_review") + query)


def waiting_by_space(request: HttpRequest) -> list[tuple[Namespace, int]]:
    """Count what waits for this person in each namespace, up to 1,000 each."""
    known: list[tuple[Namespace, int]] | None = getattr(request, "reviews_waiting", None)
    if known is None:
        caller = caller_of(request)
        known = [(space, count_up_to(_queue(space, caller.name), MOST)) for space in spaces_of(caller)]
        request.reviews_waiting = known  # type: ignore[attr-defined]
    return known


def _queue(space: Namespace, name: str) -> Any:
    """Give what waits, without what this person left open before."""
    return judging.review_queue(space).exclude(judged_by=name)


def _place(request: HttpRequest, asked: str) -> Place:
    """Choose the namespace asked for, or the one where most waits."""
    caller = caller_of(request)
    space = spaces_of(caller).filter(name=asked).first() if asked else None
    if space is None:
        counts = waiting_by_space(request)
        space = max(counts, key=lambda each: each[1])[0] if counts else None
    if space is None:
        return Place(None, [], 0)
    queue = _queue(space, caller.name)
    keys = list(queue.values_list("pk", flat=True)[:LOOKED_AHEAD])
    return Place(space, keys, count_up_to(queue, MOST) if len(keys) == LOOKED_AHEAD else len(keys))


def _shown(row: Verification) -> Shown:
    version = row.golden.in_force
    question, golden_question = marked(row.question, row.golden_question)
    judge = OfflineJudge.from_dict(row.namespace.judge_state)
    chance = judge.probability(row.similarity, row.margin, row.features) if judge.fit_ else None
    return Shown(
        row=row,
        question=question,
        golden_question=golden_question,
        answer=version.answer if version else "",
        outdated=version is None or version.number != row.golden_version,
        lines=[Line(text, row.scores.get(name)) for name, text in RUBRIC.items()],
        chance=chance,
        said_by=_sayer(row.judged_by),
        policy=Policy.from_mapping(row.namespace.policy),
    )


def _sayer(name: str) -> str:
    """Name who gave a verdict, for people to read: a person, a client, or the kind of judge."""
    kind, _colon, _version = name.partition(":")
    judges = {"offline": _("The offline judge"), "chat": _("The language model"), "human": _("Nobody yet")}
    return judges.get(kind) or access.names([name]).get(name, name)


def _said(verdict: str, promotion: str, left: int) -> str:
    rest = ngettext("%d is left.", "%d are left.", left) % left
    refused = promotion if verdict == "APPROVE" and promotion != "promoted" else ""
    return " ".join(part for part in (f"{SAID[verdict]}.", f"Promotion {refused}." if refused else "", rest) if part)
