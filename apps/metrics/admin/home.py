"""The console's first page: what was saved, what went wrong, what waits for you, by role, over all caches."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

from django.http import HttpRequest
from django.utils.formats import number_format
from django.utils.translation import gettext as _
from django.utils.translation import gettext_lazy as lazy

from apps.access.admin.desk import may, seat
from apps.access.core.prices import Prices
from apps.metrics import services

MOST = 1_000
TITLES = {"answers": lazy("Answers"), "inference": lazy("Inference"), "segments": lazy("Segments")}
UNITS = {
    "calls": lazy("upstream calls"),
    "tokens": lazy("tokens"),
    "seconds": lazy("of waiting"),
    "cpu_seconds": lazy("of processor time"),
    "bytes": lazy("from the origin"),
    "frames": lazy("frames not computed anew"),
}


@dataclass(frozen=True, slots=True)
class Task:
    """One thing that waits: how much of it, where to do it, and whose work it is (`curator` or `operator`)."""

    title: str
    count: int | None
    link: str
    detail: str
    tone: str = ""
    role: str = "curator"

    @property
    def shown(self) -> str:
        """Write the number, capped."""
        return "?" if self.count is None else f"{MOST:,}+" if self.count > MOST else f"{self.count:,}"


Tasks = Callable[[HttpRequest], list[Task]]
_tasks: list[Tasks] = []


def register_tasks(tasks: Tasks) -> None:
    """Let a cache say what waits for the person who asks."""
    if tasks not in _tasks:
        _tasks.append(tasks)


def home(request: HttpRequest, context: dict[str, Any]) -> dict[str, Any]:
    """Add to the first page what was saved, what went wrong and what waits for this person."""
    place = seat(request)
    if place.caller is None or place.workspace is None:
        return {**context, "tasks": [], "homeless": True}
    first = "operator" if may(request, "operator") and not may(request, "curator") else "curator"
    ordered = sorted((task for tasks in _tasks for task in tasks(request)), key=lambda task: task.role != first)
    prices = Prices.from_mapping(place.workspace.prices)
    return {
        **context,
        "tasks": [task for task in ordered if task.count != 0],
        "quiet": [task for task in ordered if task.count == 0],
        "days": [_day(day, prices) for day in services.saved(place.workspace)],
        "alarms": services.alarms(place.caller.workspace_id),
        "may_curate": may(request, "curator"),
    }


def _day(day: services.Day, prices: Prices) -> dict[str, Any]:
    money = sum(saving.amount for saving in day.savings if saving.unit == "money")
    return {
        "title": TITLES[day.cache],
        "requests": number_format(day.requests, force_grouping=True),
        "hit": None if day.hit_share is None else f"{day.hit_share:.1%}",
        "money": f"{number_format(money, 2, force_grouping=True)} {prices.currency}" if money else "",
        "savings": [_written(saving) for saving in day.savings if saving.unit != "money"],
    }


def _written(saving: services.Saving) -> str:
    amount, unit = saving.amount, str(UNITS[saving.unit])
    if saving.unit in {"seconds", "cpu_seconds"}:
        return f"{_span(amount)} {unit}"
    if saving.unit == "bytes":
        return f"{_size(amount)} {unit}"
    return f"{number_format(round(amount), force_grouping=True)} {unit}"


def _span(seconds: float) -> str:
    for size, word in ((3_600, _("h")), (60, _("min"))):
        if seconds >= size:
            return f"{number_format(seconds / size, 1)} {word}"
    return f"{number_format(seconds, 1)} s"


def _size(size: float) -> str:
    for power, word in ((1e12, "TB"), (1e9, "GB"), (1e6, "MB")):
        if size >= power:
            return f"{number_format(size / power, 1)} {word}"
    return f"{number_format(size / 1e3, 1)} kB"
