"""Remember when alarms begin and end, and tell those who want to know; reviews that wait are told once an hour."""

from __future__ import annotations

import logging
from collections.abc import Callable
from dataclasses import dataclass
from datetime import timedelta
from typing import Any
from uuid import UUID

from django.conf import settings
from django.db import transaction
from django.utils import timezone

from apps.access.models import Workspace
from apps.metrics.models import Alarm, Hook, Notice
from apps.metrics.services import standing

log = logging.getLogger(__name__)
KEPT = timedelta(days=90)
REVIEWS_EVERY = timedelta(hours=1)


@dataclass(frozen=True, slots=True)
class Waiting:
    """What waits for a person in a workspace: how much, and the page where it is done."""

    title: str
    count: int
    link: str


Reviews = Callable[[UUID], Waiting]
_reviews: list[Reviews] = []


def register_reviews(reviews: Reviews) -> None:
    """Let a cache say what waits for a person."""
    if reviews not in _reviews:
        _reviews.append(reviews)


def watch() -> None:
    """Compare alarms with those that lasted a moment ago, in every workspace; tell what changed."""
    for workspace in Workspace.objects.all():
        try:
            _compare(workspace)
            _tell_reviews(workspace)
        except Exception:  # the other workspaces must be told
            log.exception("the alarms of %s could not be watched", workspace)
    Alarm.objects.filter(ended_at__lt=timezone.now() - KEPT).delete()
    Notice.objects.filter(created_at__lt=timezone.now() - KEPT).delete()


def _compare(workspace: Workspace) -> None:
    alarms, whole = standing.every_alarm(workspace.pk)
    now = {alarm["title"]: alarm for alarm in alarms}
    with transaction.atomic():
        open_ones = list(Alarm.objects.select_for_update().filter(workspace=workspace, ended_at=None))
        known = {row.title for row in open_ones}
        for row in open_ones:
            if whole and row.title not in now:  # what cannot be read has not ended
                row.ended_at = timezone.now()
                row.save(update_fields=["ended_at"])
                _tell_alarm(row, "alarm.ended")
        for title, alarm in now.items():
            if title not in known:
                _tell_alarm(Alarm.objects.create(workspace=workspace, **alarm), "alarm.raised")


def _tell_alarm(row: Alarm, event: str) -> None:
    """Queue a message to every hook that wants alarms."""
    body = {"title": row.title, "detail": row.detail, "link": _whole(row.link), "runbook": _whole(row.runbook)}
    for hook in Hook.objects.filter(workspace_id=row.workspace_id, active=True, alarms=True):
        notify(hook, event, {**body, "alarm": str(row.pk)})


def _tell_reviews(workspace: Workspace) -> None:
    """Tell when more waits than was told last, an hour later at the earliest."""
    hooks = list(Hook.objects.filter(workspace=workspace, active=True, reviews=True))
    waiting = [reviews(workspace.pk) for reviews in _reviews] if hooks else []
    count = sum(each.count for each in waiting)
    for hook in hooks:
        fresh = hook.reviews_told_at and hook.reviews_told_at > timezone.now() - REVIEWS_EVERY
        if count > hook.reviews_told and not fresh:
            told = [
                {"title": each.title, "count": each.count, "link": _whole(each.link)} for each in waiting if each.count
            ]
            notify(hook, "reviews.waiting", {"count": count, "reviews": told})
            hook.reviews_told_at = timezone.now()
        hook.reviews_told = count if not fresh or count < hook.reviews_told else hook.reviews_told
        hook.save(update_fields=["reviews_told_at", "reviews_told"])


def _whole(link: str) -> str:
    return f"{settings.PUBLIC_URL}{link}" if link else ""


def notify(hook: Hook, event: str, data: dict[str, Any]) -> Notice:
    """Queue one message."""
    body = {
        "type": event,
        "timestamp": timezone.now().isoformat(timespec="seconds"),
        "workspace": hook.workspace.slug,
        "data": data,
    }
    return Notice.submit(hook=hook, event=event, body=body)
