"""Take what viewers did, in bulk, under names that only this workspace could have made; forget it on demand."""

from __future__ import annotations

import hashlib
import hmac
import math
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from typing import Any
from uuid import UUID

from django.conf import settings
from django.db.models.functions import Now
from django.utils import timezone
from django.utils.dateparse import parse_datetime

from apps.access import services as access
from apps.access.core.callers import Caller
from apps.access.models import Workspace
from apps.segments.models import Event, Video

MOST_EVENTS = 5_000
AHEAD = timedelta(minutes=5)  # clocks of viewers may be so much ahead
# CMCD (CTA-5004-B): what the player's state means in our words.
STATES = {"s": "play", "p": "heartbeat", "k": "seek", "r": "heartbeat", "a": "pause", "e": "end"}


@dataclass(frozen=True, slots=True)
class Taken:
    """How many events were taken, and what was wrong with the others: (number in the list, message)."""

    accepted: int
    errors: list[tuple[int, str]]


class _Wrong(ValueError):
    """One event that cannot be taken."""


def pseudonym(workspace_id: UUID, viewer: str) -> bytes:
    """Name a viewer by a keyed hash (16 bytes): the same in one workspace, another in the next, not to be undone."""
    key = hashlib.sha256(f"{settings.SECRET_KEY}:{workspace_id}".encode()).digest()
    return hmac.new(key, viewer.encode(), hashlib.sha256).digest()[:16]


def take(caller: Caller, items: Sequence[Any]) -> Taken:
    """Keep events of any order, each once; what cannot be meant is told by its place in the list.

    Raises:
        Invalid: there are none, or more than 5,000.
    """
    if not 1 <= len(items) <= MOST_EVENTS:
        raise access.Invalid(f"Send 1 to {MOST_EVENTS} events.")
    videos = _videos(caller, items)
    rows: list[Event] = []
    errors: list[tuple[int, str]] = []
    for number, item in enumerate(items):
        try:
            rows.append(_event(caller, item, videos))
        except _Wrong as problem:
            errors.append((number, str(problem)))
    Event.objects.bulk_create(rows, batch_size=1_000, ignore_conflicts=True)
    return Taken(len(rows), errors)


def take_cmcd(caller: Caller, body: str) -> Taken:
    """Keep the reports of a CMCD event target: one a line, `key=value` separated by commas."""
    items = [_from_cmcd(line) for line in body.splitlines() if line.strip()]
    return take(caller, items)


def forget(caller: Caller, viewer: str) -> int:
    """Delete everything a viewer did in this workspace; returns how many events that were."""
    rows = Event.objects.filter(workspace_id=caller.workspace_id, viewer=pseudonym(caller.workspace_id, viewer))
    count, _ = rows.delete()
    access.record(caller, "forgot a viewer of", Workspace.objects.get(pk=caller.workspace_id), events=count)
    return count


def prune() -> int:
    """Delete events older than the views are kept."""
    late = timedelta(days=settings.SEGMENTS["VIEW_DAYS"])
    return Event.objects.filter(at__lt=Now() - late).delete()[0]


def _videos(caller: Caller, items: Sequence[Any]) -> dict[str, Video]:
    asked = {str(item.get("video")) for item in items if isinstance(item, dict)}
    keys = [key for key in map(_uuid, asked) if key]
    rows = Video.objects.filter(workspace_id=caller.workspace_id, pk__in=keys).only("pk", "renditions", "duration_s")
    return {str(row.pk): row for row in rows}


def _uuid(text: str) -> UUID | None:
    try:
        return UUID(text)
    except ValueError:
        return None


def _event(caller: Caller, item: Any, videos: dict[str, Video]) -> Event:
    if not isinstance(item, dict):
        raise _Wrong("An event is an object.")
    key = _uuid(str(item.get("video")))
    video = videos.get(str(key)) if key else None
    if video is None:
        raise _Wrong("This workspace has no such video.")
    what = item.get("event")
    if what not in Event.What.values:
        raise _Wrong(f"An event is one of {', '.join(Event.What.values)}.")
    return Event(
        workspace_id=caller.workspace_id,
        viewer=pseudonym(caller.workspace_id, _word(item, "viewer", 200)),
        video=video,
        session=_word(item, "session", 64),
        event=what,
        position_s=_position(item),
        rendition=_rendition(video, item.get("rendition")),
        at=_moment(item.get("at")),
    )


def _word(item: dict[str, Any], name: str, most: int) -> str:
    value = item.get(name)
    value = str(value) if isinstance(value, int) and not isinstance(value, bool) else value
    if not isinstance(value, str) or not 1 <= len(value) <= most or "\0" in value:
        raise _Wrong(f"{name} must be a text of 1 to {most} letters.")
    return value


def _position(item: dict[str, Any]) -> float:
    value = item.get("position_s", 0)
    good = isinstance(value, int | float) and not isinstance(value, bool) and math.isfinite(value)
    if not good or not 0 <= value <= 10**6:
        raise _Wrong("position_s must be a number of seconds.")
    return float(value)


def _rendition(video: Video, value: Any) -> int:
    """Find a rendition by its place, its height or its name; the smallest where that cannot be told."""
    for place, each in enumerate(video.renditions):
        if value is not None and value in (each.get("height"), each.get("name"), str(each.get("height"))):
            return place
    whole = isinstance(value, int) and not isinstance(value, bool)
    return int(value) if whole and 0 <= value < max(1, len(video.renditions)) else 0


def _moment(value: Any) -> datetime:
    now = timezone.now()
    if value is None:
        return now
    try:
        found = parse_datetime(value) if isinstance(value, str) else datetime.fromtimestamp(float(value), UTC)
    except (ValueError, TypeError, OverflowError, OSError):
        found = None
    if found is None:
        raise _Wrong("at must be a time like 2030-01-31T12:00:00Z.")
    found = found if found.tzinfo else found.replace(tzinfo=UTC)
    if found > now + AHEAD:
        raise _Wrong("at lies in the future.")
    if found < now - timedelta(days=settings.SEGMENTS["VIEW_DAYS"]):
        raise _Wrong("at lies longer ago than views are kept.")
    return found


def _from_cmcd(line: str) -> dict[str, Any]:
    told = dict(_pairs(line))
    state, stamp, head = told.get("sta", ""), told.get("ts", ""), told.get("pt", "")
    session = told.get("sid", "")
    return {
        "viewer": session,
        "session": session,
        "video": told.get("cid", ""),
        "event": STATES.get(state, "heartbeat"),
        "position_s": float(head) / 1_000 if head.replace(".", "", 1).isdigit() else 0,
        "at": float(stamp) / 1_000 if stamp.isdigit() else None,
    }


def _pairs(line: str) -> Iterator[tuple[str, str]]:
    """Split `key=value` at commas that stand outside quotes; a key alone is true."""
    part, quoted = "", False
    for letter in [*line.strip(), ","]:
        quoted ^= letter == '"'
        if letter == "," and not quoted:
            name, _equals, value = part.partition("=")
            yield name.strip(), value.strip().strip('"')
            part = ""
        else:
            part += letter
