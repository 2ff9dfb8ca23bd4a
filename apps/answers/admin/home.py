"""What waits in the answers cache, for the console's first page; and the numbers beside the sidebar's links."""

from __future__ import annotations

from typing import Any

from django.core.cache import cache
from django.db.models import Max
from django.http import HttpRequest
from django.urls import reverse
from django.utils.translation import gettext as _

from apps.access.admin.desk import caller_of, may, seat
from apps.access.admin.lists import count_up_to
from apps.access.core.callers import Caller
from apps.answers.admin import review
from apps.answers.admin.spaces import spaces_of
from apps.answers.models import GoldenAnswer, GoldenQuestion, Namespace, Replay
from apps.answers.services import golden, reporting
from apps.metrics.admin.home import MOST, Task, register_tasks

SOON_DAYS = 30
MAPPED = 2_000  # a larger golden tier is mapped only when somebody opens the map
REMEMBER_S = 3_600


def tasks(request: HttpRequest) -> list[Task]:
    """List what waits in the answers cache."""
    caller = caller_of(request)
    return [*_reviews(request), *_golden(caller), *_conflicts(caller), *_operations(caller)]


def reviews_badge(request: HttpRequest) -> str:
    """Write beside the sidebar's link how many pairs wait for review; nothing when none does."""
    if seat(request).caller is None:
        return ""
    count = sum(count for _space, count in review.waiting_by_space(request))
    return "" if count == 0 else f"{MOST:,}+" if count > MOST else str(count)


def golden_badge(request: HttpRequest) -> str:
    """Write beside the sidebar's link how many golden answers wait for an approval."""
    caller = seat(request).caller
    count = count_up_to(_mine(caller).filter(status="in_review"), MOST) if caller else 0
    return str(count) if count else ""


def reads(request: HttpRequest) -> bool:
    """Say whether a person reads this workspace."""
    return may(request, "")


def operates(request: HttpRequest) -> bool:
    """Say whether a person operates this workspace."""
    return may(request, "operator")


def is_superuser(request: HttpRequest) -> bool:
    """Say whether a person manages everybody."""
    return bool(request.user.is_active and request.user.is_superuser)


def _mine(caller: Caller) -> Any:
    return GoldenAnswer.objects.filter(namespace__in=spaces_of(caller))


def _reviews(request: HttpRequest) -> list[Task]:
    link = reverse("admin:answers_verification_review")
    return [
        Task(
            _("Pairs to review in %(name)s") % {"name": space.name},
            count,
            f"{link}?namespace={space.name}",
            _("May the golden answer be served for this question?"),
            "gold",
        )
        for space, count in review.waiting_by_space(request)
    ]


def _golden(caller: Caller) -> list[Task]:
    page = reverse("admin:answers_goldenanswer_changelist")
    rows = _mine(caller)
    return [
        Task(_("Golden answers to approve"), count_up_to(rows.filter(status="in_review"), MOST),
             page + "?status__exact=in_review", _("Submitted by their authors."), "gold"),
        Task(_("Approved, not yet published"), count_up_to(rows.filter(status="approved"), MOST),
             page + "?status__exact=approved", _("One click from being served."), "gold"),
        Task(_("Answers that end soon"), count_up_to(golden.expiring(caller, SOON_DAYS), MOST),
             page + "?validity=expiring", _("Within 30 days they are served no more."), "warn"),
        Task(_("Answers that have ended"), count_up_to(golden.expired(caller), MOST),
             page + "?validity=expired", _("In force, but nobody is served them."), "warn"),
        Task(_("Reviews by date"), count_up_to(golden.due_for_review(caller), MOST),
             page + "?validity=due", _("Somebody promised to look again by now."), "warn"),
    ]  # fmt: skip


def _conflicts(caller: Caller) -> list[Task]:
    page = reverse("admin:answers_goldenanswer_conflicts")
    detail = _("Golden questions so close that either may be served for the other.")
    return [
        Task(
            _("Conflicts in %(name)s") % {"name": space.name},
            _conflicts_in(space),
            f"{page}?namespace={space.name}",
            detail,
            "warn",
        )
        for space in spaces_of(caller)
    ]


def _conflicts_in(space: Namespace) -> int | None:
    """Count conflicts, remembered until the golden tier or the policy changes; None where that would take too long."""
    rows = GoldenQuestion.objects.filter(namespace=space)
    count = count_up_to(rows, MAPPED)
    if count > MAPPED:
        return None
    newest = rows.aggregate(newest=Max("created_at"))["newest"]
    name = f"conflicts:{space.pk}:{count}:{newest.timestamp() if newest else 0}:{hash(str(space.policy))}"
    known = cache.get(name)
    if known is None:
        known = len(golden.conflict_map(space, MOST))
        cache.set(name, known, REMEMBER_S)
    return int(known)


def _operations(caller: Caller) -> list[Task]:
    paused = spaces_of(caller).exclude(promotion_paused="")
    failed = Replay.objects.filter(namespace__in=spaces_of(caller), status=Replay.Status.FAILED)
    waiting = reporting.gauge(caller.workspace_id)["judge"]["depth"]
    return [
        Task(_("Namespaces with promotion paused"), paused.count(), reverse("admin:answers_namespace_changelist"),
             _("The judge's approvals passed the error budget, or somebody stopped it."), "bad", "operator"),
        Task(_("Replays that failed"), count_up_to(failed, MOST),
             reverse("admin:answers_replay_changelist") + "?status__exact=failed", _("Each says why."),
             "bad", "operator"),
        Task(_("Near misses in the judge's queue"), waiting,
             reverse("admin:answers_verification_changelist") + "?status__exact=queued", _("Judged behind the scenes."),
             "", "operator"),
    ]  # fmt: skip


register_tasks(tasks)
