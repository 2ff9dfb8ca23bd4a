"""Alarms are remembered and told: signed webhooks to a real server, tried again; nothing to strangers."""

from __future__ import annotations

import json
import threading
import time
from collections.abc import Iterator
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any

import pytest
from django.utils import timezone

from apps.access.core.callers import Caller
from apps.access.services import Invalid
from apps.metrics import services
from apps.metrics.core import signing
from apps.metrics.models import Alarm, Hook, Notice
from apps.metrics.services import alarming, notifying, standing
from tests import factories

pytestmark = pytest.mark.django_db


class Receiver(ThreadingHTTPServer):
    """Keeps what it was told and answers `status`."""

    daemon_threads = True

    def __init__(self) -> None:
        super().__init__(("127.0.0.1", 0), Handler)
        self.status, self.told = 204, list[tuple[dict[str, str], bytes]]()


class Handler(BaseHTTPRequestHandler):
    server: Receiver

    def do_POST(self) -> None:
        body = self.rfile.read(int(self.headers["Content-Length"]))
        self.server.told.append(({key.lower(): value for key, value in self.headers.items()}, body))
        self.send_response(self.server.status)
        self.end_headers()

    def log_message(self, format: str, *args: Any) -> None:
        pass


@pytest.fixture
def receiver() -> Iterator[Receiver]:
    with Receiver() as server:
        threading.Thread(target=server.serve_forever, daemon=True).start()
        yield server
        server.shutdown()


@pytest.fixture
def caller() -> Caller:
    return factories.key()[0]


def hook(caller: Caller, address: str, **more: Any) -> Hook:
    return services.save(caller, Hook(name="ops", address=address, **more))


def at(receiver: Receiver) -> str:
    return f"http://127.0.0.1:{receiver.server_port}/hook"


def test_an_alarm_is_told_once_when_it_begins_and_once_when_it_ends(
    caller: Caller, receiver: Receiver, monkeypatch: pytest.MonkeyPatch
) -> None:
    row = hook(caller, at(receiver))
    told = [{"title": "It burns", "detail": "badly", "link": "", "runbook": ""}]
    whole = [True]
    monkeypatch.setattr(
        standing, "every_alarm", lambda workspace: (told if workspace == caller.workspace_id else [], whole[0])
    )
    services.watch()
    services.watch()
    told.clear()
    whole[0] = False
    services.watch()
    assert Notice.objects.count() == 1  # what cannot be read has not ended
    whole[0] = True
    services.watch()
    assert [(alarm.title, alarm.ended_at is not None) for alarm in Alarm.objects.all()] == [("It burns", True)]
    for notice in Notice.objects.order_by("pk"):
        assert Notice.perform(notice.pk, services.perform)
    assert [json.loads(body)["type"] for _, body in receiver.told] == ["alarm.raised", "alarm.ended"]
    headers, body = receiver.told[0]
    assert signing.verified(row.secret, headers, body, time.time())
    assert not signing.verified(row.secret, headers, body + b" ", time.time())
    assert not signing.verified(signing.new_secret(), headers, body, time.time())
    assert not signing.verified(row.secret, headers, body, time.time() + 1_000)


def test_what_is_not_taken_is_tried_again_and_given_up_in_the_end(caller: Caller, receiver: Receiver) -> None:
    receiver.status = 500
    notice = services.notify(hook(caller, at(receiver)), "trial", {"title": "x"})
    for _ in range(len(notifying.PAUSES)):
        Notice.perform(notice.pk, services.perform)
        notice.refresh_from_db()
        assert (notice.status, notice.answer) == ("waiting", 500)
        assert notice.due_at > timezone.now()
        Notice.objects.filter(pk=notice.pk).update(due_at=timezone.now())
        services.wake()
    Notice.perform(notice.pk, services.perform)
    notice.refresh_from_db()
    assert (notice.status, notice.attempts) == ("failed", 5)
    assert "500" in notice.error


def test_a_dead_receiver_fails_no_worker(caller: Caller) -> None:
    notice = services.notify(hook(caller, "http://127.0.0.1:9/x"), "trial", {"title": "x"})
    assert Notice.perform(notice.pk, services.perform)
    notice.refresh_from_db()
    assert notice.status == "waiting" and notice.error


def test_reviews_are_told_when_more_wait_and_once_an_hour(caller: Caller, monkeypatch: pytest.MonkeyPatch) -> None:
    waiting = [3]
    monkeypatch.setattr(standing, "every_alarm", lambda workspace: ([], True))
    monkeypatch.setattr(alarming, "_reviews", [lambda workspace: services.Waiting("Pairs", waiting[0], "/r")])
    hook(caller, "http://127.0.0.1:9/x", alarms=False, reviews=True)
    services.watch()
    waiting[0] = 9
    services.watch()
    assert [notice.body["data"]["count"] for notice in Notice.objects.all()] == [3]
    Hook.objects.update(reviews_told_at=timezone.now() - alarming.REVIEWS_EVERY)
    services.watch()
    assert sorted(notice.body["data"]["count"] for notice in Notice.objects.all()) == [3, 9]


@pytest.mark.parametrize("address", ["ftp://x/", "x", "http://", "http://a:b@c/", "http://a b/", "http://x:99999/"])
def test_an_address_that_cannot_be_told_is_refused(caller: Caller, address: str) -> None:
    with pytest.raises(Invalid):
        hook(caller, address)


def test_mail_needs_a_server(caller: Caller, settings: Any, mailoutbox: list[Any]) -> None:
    with pytest.raises(Invalid):
        hook(caller, "ada@example.org", kind="mail")
    settings.EMAIL_HOST = "mail.example.org"
    with pytest.raises(Invalid):
        hook(caller, "no address", kind="mail")
    row = hook(caller, "ada@example.org", kind="mail")
    notice = services.notify(row, "alarm.raised", {"title": "It burns", "detail": "badly", "link": "/x"})
    Notice.perform(notice.pk, services.perform)
    (mail,) = mailoutbox
    assert (mail.to, mail.subject) == (["ada@example.org"], "[acme] It burns")
    assert "badly" in mail.body


def test_many_failures_are_one_alarm_that_names_the_newest() -> None:
    told = standing.one_of_many("Videos failed", "/v/", "video", [("a", "no sound"), ("b", "")], 7)
    assert (told["title"], told["detail"]) == ("Videos failed", "a: no sound; b; and 5 more")
    assert told["runbook"].endswith("#video")
    assert standing.one_of_many("Videos failed", "/v/", "video", [("a", "")], 1)["detail"] == "a"
