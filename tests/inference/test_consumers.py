"""Progress over WebSocket: who comes in, and what they get."""

from __future__ import annotations

import json
from typing import Any

import pytest
from asgiref.sync import async_to_sync, sync_to_async
from asgiref.testing import ApplicationCommunicator

from apps.inference import services
from apps.inference.consumers import MISSING
from apps.inference.models import Job
from apps.metrics.consumers import NOT_ALLOWED
from config.asgi import application
from tests import factories
from tests.inference import makers

pytestmark = pytest.mark.django_db(transaction=True)


async def watched(pk: Any, query: str, act: Any = None) -> list[Any]:
    """Give what a browser is sent first, and after an act; or the code it is sent away with."""
    connect: Any = ApplicationCommunicator
    about = {"type": "websocket", "path": f"/ws/jobs/{pk}/", "query_string": query.encode(), "subprotocols": []}
    headers = [(b"origin", b"http://testserver"), (b"host", b"testserver")]
    socket = connect(application, {**about, "headers": headers})
    await socket.send_input({"type": "websocket.connect"})
    assert (await socket.receive_output(10))["type"] == "websocket.accept"
    seen = []
    for step in (None, act) if act else (None,):
        if step is not None:
            await sync_to_async(step)()
        message = await socket.receive_output(10)
        seen.append(message["code"] if message["type"] == "websocket.close" else json.loads(message["text"]))
    await socket.send_input({"type": "websocket.disconnect", "code": 1000})
    await socket.wait(10)
    return seen


def test_a_watcher_is_told_how_a_job_stands_and_what_becomes_of_it(valkey: Any) -> None:
    caller, secret = factories.key()
    network = makers.network(caller)
    job = Job.objects.create(workspace_id=caller.workspace_id, network=network, file="a", done=3, total=9)
    job.refresh_from_db()
    first, then = async_to_sync(watched)(job.pk, f"key={secret}", lambda: services.cancel(caller, job))
    assert (first["status"], first["progress"]) == ("queued", {"done": 3, "total": 9})
    assert (then["id"], then["status"]) == (str(job.pk), "cancelled")


def test_strangers_and_other_workspaces_are_sent_away(valkey: Any) -> None:
    caller, _ = factories.key()
    _, other = factories.key("other")
    job = Job.objects.create(workspace_id=caller.workspace_id, network=makers.network(caller), file="a")
    job = Job.objects.get()
    assert async_to_sync(watched)(job.pk, "key=wrong") == [NOT_ALLOWED]
    assert async_to_sync(watched)(job.pk, "") == [NOT_ALLOWED]
    assert async_to_sync(watched)(job.pk, f"key={other}") == [MISSING]
