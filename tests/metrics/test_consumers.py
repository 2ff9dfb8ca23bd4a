"""Live metrics over WebSocket: who comes in, what they get, and when they are sent away."""

from __future__ import annotations

import json
from typing import Any

import pytest
from asgiref.sync import async_to_sync, sync_to_async
from asgiref.testing import ApplicationCommunicator
from django.test import Client

from apps.access import services as access
from apps.access.core.callers import Caller
from apps.access.models import ApiKey, Membership
from apps.metrics import consumers, services
from config.asgi import application
from tests import factories

pytestmark = pytest.mark.django_db(transaction=True)


class Watching:
    """One browser's connection."""

    def __init__(self, query: str = "", cookie: str = "", origin: str = "http://testserver") -> None:
        headers = [(b"origin", origin.encode()), (b"host", b"testserver"), (b"cookie", cookie.encode())]
        scope = {"type": "websocket", "path": "/ws/metrics/", "query_string": query.lstrip("?").encode()}
        connect: Any = ApplicationCommunicator
        self.socket = connect(application, {**scope, "headers": headers, "subprotocols": []})
        self.accepted = False

    async def __aenter__(self) -> Watching:
        await self.socket.send_input({"type": "websocket.connect"})
        self.accepted = (await self.socket.receive_output(10))["type"] == "websocket.accept"
        return self

    async def __aexit__(self, *args: Any) -> None:
        await self.socket.send_input({"type": "websocket.disconnect", "code": 1000})
        await self.socket.wait(10)

    async def snapshot(self) -> Any:
        message = await self.socket.receive_output(10)
        assert message["type"] == "websocket.send", message
        return json.loads(message["text"])

    async def code(self) -> int:
        """Read on until the connection closes, and give the code; a few snapshots may still be under way."""
        for _ in range(6):
            message = await self.socket.receive_output(10)
            if message["type"] == "websocket.close":
                return int(message["code"])
        raise AssertionError("the connection stays open")


async def snapshot_of(query: str = "", cookie: str = "") -> Any:
    async with Watching(query, cookie) as watching:
        return await watching.snapshot()


async def refusal_of(query: str = "", cookie: str = "") -> int:
    async with Watching(query, cookie) as watching:
        return await watching.code()


def miss(caller: Caller, number: int) -> None:
    services.count(caller.workspace_id, "answers", "default", "miss", number)
    services.flush()


def signed_in(user: Any, **session: str) -> tuple[Client, str]:
    client = Client()
    client.force_login(user)
    kept = client.session
    kept.update(session)
    kept.save()
    return client, f"sessionid={client.cookies['sessionid'].value}"


def test_a_key_watches_its_own_workspace_only() -> None:
    caller, secret = factories.key(scopes=("client",))
    other, _ = factories.key("other")
    miss(caller, 2)
    miss(other, 40)
    assert async_to_sync(snapshot_of)(f"?key={secret}")["answers"]["outcomes"]["miss"] == 2


def test_a_viewer_watches_by_session() -> None:
    caller, _ = factories.key()
    miss(caller, 3)
    _, cookie = signed_in(factories.member("acme", "viewer"))
    assert async_to_sync(snapshot_of)(cookie=cookie)["answers"]["requests"] == 3


def test_a_member_of_two_workspaces_watches_the_chosen_one() -> None:
    factories.key()
    other, _ = factories.key("other")
    miss(other, 3)
    user = factories.member("acme", "viewer")
    Membership.objects.create(user=user, workspace_id=other.workspace_id, role="viewer")
    _, chosen = signed_in(user, workspace="other")
    assert async_to_sync(snapshot_of)(cookie=chosen)["answers"]["requests"] == 3
    assert async_to_sync(snapshot_of)("?workspace=other", chosen)["answers"]["requests"] == 3
    assert async_to_sync(snapshot_of)("?workspace=acme", chosen)["answers"]["requests"] == 0


@pytest.mark.parametrize("query", ["", "?key=", "?key=ts_wrong", "?key=%00%FF"])
def test_strangers_are_refused(query: str) -> None:
    factories.key()
    assert async_to_sync(refusal_of)(query) == consumers.NOT_ALLOWED


def test_a_workspace_of_others_is_refused() -> None:
    factories.key()
    factories.key("other")
    _, cookie = signed_in(factories.member("acme", "owner"))
    assert async_to_sync(refusal_of)("?workspace=other", cookie) == consumers.NOT_ALLOWED


def test_another_sites_page_is_refused() -> None:
    _, secret = factories.key()

    async def accepted() -> bool:
        async with Watching(f"?key={secret}", origin="https://evil.example") as watching:
            return bool(watching.accepted)

    assert async_to_sync(accepted)() is False


def test_a_revoked_key_is_sent_away(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(consumers, "ASK_AGAIN_S", 0.0)
    _, secret = factories.key(scopes=("client",))

    async def watch() -> int:
        async with Watching(f"?key={secret}") as watching:
            await watching.snapshot()
            await sync_to_async(lambda: access.revoke(ApiKey.objects.get()))()
            return await watching.code()

    assert async_to_sync(watch)() == consumers.NOT_ALLOWED


def test_who_signs_out_is_sent_away(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(consumers, "ASK_AGAIN_S", 0.0)
    factories.key()
    client, cookie = signed_in(factories.member("acme", "viewer"))

    async def watch() -> int:
        async with Watching(cookie=cookie) as watching:
            await watching.snapshot()
            await sync_to_async(client.logout)()
            return await watching.code()

    assert async_to_sync(watch)() == consumers.NOT_ALLOWED


def test_snapshots_keep_coming_and_follow_the_counts() -> None:
    caller, secret = factories.key(scopes=("client",))

    async def watch() -> tuple[int, int]:
        async with Watching(f"?key={secret}") as watching:
            before = await watching.snapshot()
            await sync_to_async(miss)(caller, 5)
            after = await watching.snapshot()
            if after["answers"]["requests"] == 0:  # that one was being written while we counted
                after = await watching.snapshot()
            return before["answers"]["requests"], after["answers"]["requests"]

    assert async_to_sync(watch)() == (0, 5)


def test_publishing_ends_with_the_last_watcher() -> None:
    _, secret = factories.key(scopes=("client",))
    async_to_sync(snapshot_of)(f"?key={secret}")
    assert consumers.publisher.watchers == {}
    assert consumers.publisher.tasks == {}


def test_two_processes_do_not_send_to_each_others_browsers() -> None:
    caller, _ = factories.key()
    one, two = consumers.Publisher(), consumers.Publisher()
    assert one.group(caller.workspace_id) != two.group(caller.workspace_id)
