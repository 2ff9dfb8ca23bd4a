"""E-mail over SMTP to a server that listens, to one that refuses, and to none."""

from __future__ import annotations

import socketserver
import threading
from collections.abc import Iterator
from email import message_from_bytes, policy
from typing import Any

import pytest

from apps.metrics import services
from apps.metrics.models import Hook, Notice
from tests import factories

pytestmark = pytest.mark.django_db


class Post(socketserver.ThreadingTCPServer):
    """A mail server that keeps what it takes."""

    daemon_threads = True

    def __init__(self) -> None:
        self.taken: list[bytes] = []
        self.refuses = False
        super().__init__(("127.0.0.1", 0), Session)


class Session(socketserver.StreamRequestHandler):
    """One conversation of RFC 5321."""

    server: Post

    def say(self, line: str) -> None:
        self.wfile.write(f"{line}\r\n".encode())

    def handle(self) -> None:
        self.say("220 here")
        while line := self.rfile.readline().decode().strip():
            verb = line.split()[0].upper()
            if verb == "DATA":
                self.say("354 go on")
                self.server.taken.append(b"".join(iter(self.rfile.readline, b".\r\n")))
            if verb == "RCPT" and self.server.refuses:
                self.say("550 nobody of this name")
            else:
                self.say("221 bye" if verb == "QUIT" else "250 fine")


@pytest.fixture
def post(settings: Any) -> Iterator[Post]:
    with Post() as server:
        threading.Thread(target=server.serve_forever, daemon=True).start()
        settings.EMAIL_BACKEND = "django.core.mail.backends.smtp.EmailBackend"
        settings.EMAIL_HOST, settings.EMAIL_PORT = server.server_address[:2]
        settings.EMAIL_USE_TLS = False
        yield server
        server.shutdown()


def notice(title: str = "It burns") -> Notice:
    caller, _ = factories.key()
    row = services.save(caller, Hook(name="post", kind="mail", address="ada@example.org", alarms=True))
    return services.notify(row, "alarm.raised", {"title": title, "detail": "badly – ä", "link": "https://x/y"})


def test_a_mail_reaches_the_server(post: Post) -> None:
    row = notice("It burns\r\nBcc: eve@example.org")
    assert Notice.perform(row.pk, services.perform)
    (text,) = post.taken
    mail: Any = message_from_bytes(text, policy=policy.default)
    assert mail["Subject"] == "[acme] It burns Bcc: eve@example.org"
    assert (mail["To"], mail["Bcc"]) == ("ada@example.org", None)
    assert "badly – ä" in mail.get_content()
    row.refresh_from_db()
    assert row.status == "done"


def test_what_the_server_refuses_is_tried_later(post: Post) -> None:
    post.refuses = True
    row = notice()
    Notice.perform(row.pk, services.perform)
    row.refresh_from_db()
    assert (row.status, post.taken) == ("waiting", [])
    assert "nobody of this name" in row.error


def test_a_server_that_is_gone_fails_no_worker(post: Post, settings: Any) -> None:
    settings.EMAIL_PORT = 9
    row = notice()
    assert Notice.perform(row.pk, services.perform)
    row.refresh_from_db()
    assert row.status == "waiting" and row.error
