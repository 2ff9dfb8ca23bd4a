"""The embedded Valkey: starts, stops, keeps what it was told."""

from __future__ import annotations

import threading
from collections.abc import Iterator
from pathlib import Path

import pytest
import redis

from config.stack.valkey import Valkey, ValkeyError

pytestmark = pytest.mark.stack


@pytest.fixture
def valkey(tmp_path: Path) -> Iterator[Valkey]:
    server = Valkey(tmp_path)
    yield server
    server.stop()


def put(server: Valkey, value: str) -> None:
    with redis.Redis.from_url(server.url) as client:
        client.set("kept", value)


def get(server: Valkey) -> str:
    with redis.Redis.from_url(server.url, decode_responses=True) as client:
        return str(client.get("kept"))


def test_what_it_was_told_is_there_after_a_stop(valkey: Valkey) -> None:
    valkey.start()
    put(valkey, "one")
    valkey.stop()
    assert not valkey.socket.exists()
    valkey.start()
    assert get(valkey) == "one"


def test_what_it_acknowledged_is_there_after_a_kill(valkey: Valkey) -> None:
    valkey.start()
    put(valkey, "two")
    assert valkey.child is not None
    valkey.child.kill()
    valkey.child.wait()
    valkey.start()
    assert get(valkey) == "two"


def test_a_new_server_waits_until_the_old_one_has_let_go(valkey: Valkey, tmp_path: Path) -> None:
    valkey.start()
    put(valkey, "three")
    stopping = threading.Timer(0.3, valkey.stop)
    stopping.start()
    second = Valkey(tmp_path)
    second.start()
    stopping.join()
    assert valkey.child is not None
    assert valkey.child.returncode == 0
    assert get(second) == "three"
    second.stop()


def test_it_drops_nothing_when_it_is_full_and_listens_on_no_port(valkey: Valkey) -> None:
    valkey.start()
    with redis.Redis.from_url(valkey.url, decode_responses=True) as client:
        assert client.config_get("maxmemory-policy") == {"maxmemory-policy": "noeviction"}
        assert client.config_get("appendonly") == {"appendonly": "yes"}
        assert client.config_get("port") == {"port": "0"}
    assert valkey.socket.stat().st_mode & 0o077 == 0


def test_a_server_that_cannot_start_is_reported_with_the_end_of_its_log(valkey: Valkey) -> None:
    (valkey.folder / "appendonlydir").mkdir(parents=True)
    (valkey.folder / "appendonlydir" / "appendonly.aof.manifest").write_text("nonsense\n")
    with pytest.raises(ValkeyError, match=r"(?s)does not answer.*manifest"):
        valkey.start()
