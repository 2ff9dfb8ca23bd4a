"""Viewers' events: any order, each once, nothing of the impossible, and never who it was."""

from __future__ import annotations

from typing import Any

import pytest

from apps.segments.models import Event
from tests import factories
from tests.clients import Http
from tests.segments import makers

pytestmark = pytest.mark.django_db
VIEWS = "/api/v1/segments/views/"


def test_events_out_of_order_and_twice_count_once() -> None:
    caller, secret = factories.key()
    row = makers.video(caller)
    events = [makers.event(row, position=position, ago_s=60 - position) for position in (12, 0, 6, 18)]
    assert Http(secret).post(VIEWS, [*events, *events]).json() == {"accepted": 8, "errors": []}
    Http(secret).post(VIEWS, events)
    assert sorted(Event.objects.values_list("position_s", flat=True)) == [0, 6, 12, 18]


@pytest.mark.parametrize(
    ("change", "word"),
    [
        ({"video": "01a23261-bd51-758c-933c-4b128b4e1bba"}, "no such video"),
        ({"video": "x\0"}, "no such video"),
        ({"event": "dance"}, "one of"),
        ({"at": "2999-01-01T00:00:00Z"}, "future"),
        ({"at": "1999-01-01T00:00:00Z"}, "longer ago"),
        ({"at": "yesterday"}, "a time"),
        ({"position_s": -1}, "seconds"),
        ({"position_s": True}, "seconds"),
        ({"viewer": ""}, "viewer"),
        ({"session": "x" * 65}, "session"),
        ({"viewer": {"name": "ann"}}, "viewer"),
    ],
)
def test_one_bad_event_is_told_by_its_place_and_the_others_are_taken(change: dict[str, Any], word: str) -> None:
    caller, secret = factories.key()
    row = makers.video(caller)
    reply = Http(secret).post(VIEWS, [makers.event(row), makers.event(row, **change), 7])
    assert reply.status_code == 202
    told = reply.json()
    assert told["accepted"] == 1
    assert [error["index"] for error in told["errors"]] == [1, 2]
    assert word in told["errors"][0]["message"]


def test_a_rendition_is_known_by_its_height_too() -> None:
    caller, secret = factories.key()
    row = makers.video(caller)
    events = [
        makers.event(row, ago_s=number, rendition=asked) for number, asked in enumerate((480, 1, None, "240p", 99))
    ]
    Http(secret).post(VIEWS, events)
    assert list(Event.objects.order_by("-at").values_list("rendition", flat=True)) == [1, 1, 0, 0, 0]


def test_who_watched_is_a_hash_that_differs_by_workspace_and_can_be_forgotten() -> None:
    caller, secret = factories.key()
    other, their = factories.key("other")
    Http(secret).post(VIEWS, [makers.event(makers.video(caller))])
    Http(their).post(VIEWS, [makers.event(makers.video(other))])
    mine, theirs = (bytes(value) for value in Event.objects.order_by("pk").values_list("viewer", flat=True))
    assert mine != theirs
    assert b"ann" not in mine
    assert Http(secret).delete(f"{VIEWS}?viewer=ann").json() == {"deleted": 1}
    assert Event.objects.get().workspace_id == other.workspace_id


def test_an_event_of_another_workspaces_video_is_refused() -> None:
    caller, _ = factories.key()
    _, their = factories.key("other")
    told = Http(their).post(VIEWS, [makers.event(makers.video(caller))]).json()
    assert told["accepted"] == 0


def test_players_report_in_cmcd() -> None:
    caller, secret = factories.key()
    row = makers.video(caller)
    lines = f'cid="{row.pk}",sid="s-1",sta=p,pt=12500,br=800,v=2\ncid="{row.pk}",sid="s-1",sta=e,pt=18000\nnonsense'
    reply = Http(secret).post("/api/v1/segments/cmcd/", lines.encode(), "application/cmcd")
    assert reply.json()["accepted"] == 2
    assert [error["index"] for error in reply.json()["errors"]] == [2]
    assert set(Event.objects.values_list("event", "position_s")) == {("heartbeat", 12.5), ("end", 18.0)}


@pytest.mark.parametrize("body", [{}, [], "x", [[]] * 5_001])
def test_a_body_that_is_no_list_of_events_is_422(body: Any) -> None:
    _, secret = factories.key()
    assert Http(secret).post(VIEWS, body).status_code == 422
