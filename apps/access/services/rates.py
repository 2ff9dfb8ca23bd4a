"""Rate limits and the epoch that tells every process when what it remembers has changed: one round trip to Valkey."""

import logging
import time
from functools import lru_cache

import redis
from django.conf import settings

from apps.access.core.callers import Caller
from apps.access.services.errors import Limited

log = logging.getLogger(__name__)
EPOCH = "touchstone:epoch"
HEAR_EVERY_S = 0.2


@lru_cache(maxsize=1)
def valkey() -> redis.Redis:
    """Give this process's pool of connections to Valkey; short time-outs, since serving must not wait for it."""
    return redis.Redis.from_url(settings.VALKEY_URL, socket_timeout=1, socket_connect_timeout=0.5)


def spend(caller: Caller, requests: int = 1) -> None:
    """Count requests against the key's limit in this minute.

    Raises:
        Limited: the limit is passed; `retry_after_s` says when the next minute begins.
    """
    if not caller.rate_per_minute or caller.key_id is None:
        return
    now = time.time()
    name = f"touchstone:rate:{caller.key_id}:{int(now // 60)}"
    try:
        pipe = valkey().pipeline(transaction=False)
        pipe.incrby(name, requests)
        pipe.expire(name, 120)
        used, _ = pipe.execute()
    except redis.RedisError:
        log.warning("rate limits are off: Valkey does not answer")
        return
    if used > caller.rate_per_minute:
        raise Limited(
            f"This key may make {caller.rate_per_minute} requests a minute.", retry_after_s=60 - int(now % 60)
        )


class Epoch:
    """What this process last heard of the epoch, and when."""

    value: bytes | None = None
    heard_at = 0.0


def epoch() -> bytes | None:
    """Give the epoch: remembered keys and policies hold while it stays the same; None when Valkey cannot say.

    It is read at most five times a second, so other processes hear of a change within 0.2 s and this one at once.
    """
    now = time.monotonic()
    if now - Epoch.heard_at > HEAR_EVERY_S:
        Epoch.heard_at, Epoch.value = now, _read_epoch()
    return Epoch.value


def _read_epoch() -> bytes | None:
    try:
        value = valkey().get(EPOCH)
    except redis.RedisError:
        return None
    return value if isinstance(value, bytes) else renew_epoch()


def renew_epoch() -> bytes | None:
    """Tell every process to read keys and policies again."""
    fresh = str(time.time_ns()).encode()
    value: bytes | None = fresh
    try:
        valkey().set(EPOCH, fresh)
    except redis.RedisError:
        value = None
    Epoch.value, Epoch.heard_at = value, time.monotonic()
    return value
