"""How the web hands a stream's picture to the worker that holds its cache: lists in Valkey, one per worker."""

from __future__ import annotations

import json
import os
import socket
import time
import uuid
from dataclasses import dataclass
from typing import Any

import redis
from django.conf import settings

from apps.access import services as access

WORKERS = "touchstone:inference:workers"
ALIVE_S = 6.0
KEPT_S = 120
MOST_WAITING = 64


@dataclass(frozen=True, slots=True)
class Request:
    """One thing asked of a worker: a `frame` of a stream with its picture, or `close`; late ones are dropped."""

    verb: str
    stream: str
    reply_to: str = ""
    deadline: float = 0.0
    picture: bytes = b""

    def packed(self) -> bytes:
        """Write it as a line of JSON followed by the picture."""
        about = {"verb": self.verb, "stream": self.stream, "reply_to": self.reply_to, "deadline": self.deadline}
        return json.dumps(about).encode() + b"\n" + self.picture

    @classmethod
    def unpacked(cls, data: bytes) -> Request:
        """Read what `packed` wrote."""
        head, _, picture = data.partition(b"\n")
        return cls(**json.loads(head), picture=picture)


def new_name() -> str:
    """Name this worker process, differently at every start: a cache does not outlive it."""
    return f"{socket.gethostname()}:{os.getpid()}:{uuid.uuid4().hex[:8]}"


def waiting_client() -> redis.Redis:
    """Give a connection to Valkey that may wait for seconds."""
    return redis.Redis.from_url(settings.VALKEY_URL, socket_timeout=10, socket_connect_timeout=2)


def beat(name: str) -> None:
    """Say that a worker answers streams."""
    pipe = access.valkey().pipeline(transaction=False)
    pipe.zadd(WORKERS, {name: time.time()})
    pipe.zremrangebyscore(WORKERS, 0, time.time() - 60)
    pipe.execute()


def alive() -> list[str]:
    """Name the workers that answer streams, the one heard of last first."""
    found: Any = access.valkey().zrevrangebyscore(WORKERS, "+inf", time.time() - ALIVE_S)
    return [name.decode() for name in found]


def ask(worker: str, request: Request) -> None:
    """Put a request on a worker's list.

    Raises:
        Unavailable: too many wait there.
    """
    key = _requests(worker)
    if int(access.valkey().llen(key)) >= MOST_WAITING:
        raise access.Unavailable("Too many pictures wait for the worker.", retry_after_s=1)
    pipe = access.valkey().pipeline(transaction=False)
    pipe.rpush(key, request.packed())
    pipe.expire(key, KEPT_S)
    pipe.execute()


def take(client: redis.Redis, worker: str, seconds: int) -> Request | None:
    """Take the next request of a worker, waiting up to some seconds."""
    found: Any = client.blpop([_requests(worker)], timeout=seconds)
    return Request.unpacked(found[1]) if found else None


def answer(request: Request, told: dict[str, Any]) -> None:
    """Reply to a request."""
    if request.reply_to:
        pipe = access.valkey().pipeline(transaction=False)
        pipe.rpush(request.reply_to, json.dumps(told))
        pipe.expire(request.reply_to, KEPT_S)
        pipe.execute()


def reply(key: str, deadline: float, worker: str) -> dict[str, Any]:
    """Wait for the reply to a request.

    Raises:
        Unavailable: the worker died, or none came in time.
    """
    while time.time() < deadline:
        found: Any = access.valkey().blpop([key], timeout=0.5)
        if found:
            return dict(json.loads(found[1]))
        if worker not in alive():
            raise access.Unavailable("The worker of this stream went away; send the picture again.", retry_after_s=1)
    raise access.Unavailable("The worker did not answer in time.", retry_after_s=5)


def _requests(worker: str) -> str:
    return f"touchstone:inference:{worker}"
