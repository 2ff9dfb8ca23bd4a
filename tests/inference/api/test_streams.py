"""Streams over the API, as far as no worker is needed."""

from __future__ import annotations

from datetime import timedelta
from typing import Any

import pytest
from django.utils import timezone

from apps.access import services as access
from apps.inference import services
from apps.inference.models import Stream
from apps.inference.services import wire
from tests import factories
from tests.clients import Http
from tests.inference import makers

pytestmark = pytest.mark.django_db(transaction=True)
PATH = "/api/v1/inference/streams/"


@pytest.fixture
def secret(valkey: Any) -> str:
    caller, secret = factories.key()
    makers.network(caller)

    access.valkey().delete(wire.WORKERS)
    return secret


def test_a_stream_is_opened_listed_read_and_closed(secret: str) -> None:
    opened = Http(secret).post(PATH, {"model": "small", "mode": "budget", "expiry": 50})
    assert opened.status_code == 201
    row = opened.json()
    assert (row["status"], row["mode"], row["expiry"], row["frames"]) == ("open", "budget", 50, 0)
    assert Http(secret).get(f"{PATH}{row['id']}/").json() == row
    assert [each["id"] for each in Http(secret).get(PATH).json()["results"]] == [row["id"]]
    assert Http(secret).delete(f"{PATH}{row['id']}/").status_code == 204
    assert Http(secret).get(f"{PATH}{row['id']}/").json()["status"] == "closed"


def test_without_a_worker_a_picture_is_asked_to_come_again(secret: str) -> None:
    stream = Http(secret).post(PATH, {"model": "small"}).json()["id"]
    picture = makers.png(next(makers.pictures(1)))
    reply = Http(secret).call("POST", f"{PATH}{stream}/frames/", picture, "image/png")
    assert reply.status_code == 503 and reply.headers["Retry-After"]


def test_another_workspace_finds_no_stream(secret: str) -> None:
    stream = Http(secret).post(PATH, {"model": "small"}).json()["id"]
    _, other = factories.key("other")
    picture = makers.png(next(makers.pictures(1)))
    assert Http(other).get(f"{PATH}{stream}/").status_code == 404
    assert Http(other).delete(f"{PATH}{stream}/").status_code == 404
    assert Http(other).call("POST", f"{PATH}{stream}/frames/", picture, "image/png").status_code == 404
    assert Http(other).post(PATH, {"model": "small"}).status_code == 422


@pytest.mark.parametrize("body", [{}, {"model": "nobody"}, {"model": "small", "mode": "fast"}, {"model": 7.5}, [], "x"])
def test_what_makes_no_sense_is_refused(secret: str, body: Any) -> None:
    assert Http(secret).post(PATH, body).status_code == 422


def test_idle_streams_expire(secret: str) -> None:
    stream = Http(secret).post(PATH, {"model": "small"}).json()["id"]
    services.minute()
    assert Stream.objects.get(pk=stream).status == "open"
    Stream.objects.filter(pk=stream).update(last_frame_at=timezone.now() - timedelta(hours=1))
    services.minute()
    picture = makers.png(next(makers.pictures(1)))
    reply = Http(secret).call("POST", f"{PATH}{stream}/frames/", picture, "image/png")
    assert (Stream.objects.get(pk=stream).status, reply.status_code) == ("expired", 409)
