"""`make up`: once, twice, interrupted and killed."""

from __future__ import annotations

import os
import signal
import socket
import subprocess
import sys
from pathlib import Path

import psycopg
import pytest

from config.stack import preparation
from config.stack.postgres import Postgres
from tests.conftest import wait_for
from tests.up import ROOT, Up

pytestmark = pytest.mark.stack


def test_a_second_up_is_harmless_and_neither_ctrl_c_nor_a_kill_leaves_a_process(tmp_path: Path) -> None:
    up = Up(tmp_path / "var")
    try:
        up.wait_until_ready()
        assert remembered(up) == preparation._digest()
        assert f"already running at {up.url}" in second(up)
        assert up.ready()
        assert up.processes() != []

        for pid in [up.child.pid, *up.processes("clock@")[:1]]:
            os.kill(pid, signal.SIGKILL)  # the clock's own child must not tick on alone
        up.child.wait()
        wait_for(lambda: up.processes() == [])

        up.start()
        up.wait_until_ready()
    finally:
        up.stop()
    assert up.child.returncode == 0
    assert up.processes() == []
    assert "ready in" in up.log()


def test_a_port_that_somebody_else_has_is_said_at_once(tmp_path: Path) -> None:
    with socket.socket() as other:
        other.bind(("127.0.0.1", 0))
        other.listen()
        up = Up(tmp_path / "var", other.getsockname()[1])
        assert up.child.wait(60) == 1
        assert "cannot listen on port" in up.log()
    assert not (up.var / "postgres").exists()


def test_an_interrupted_start_leaves_no_process(tmp_path: Path) -> None:
    up = Up(tmp_path / "var")
    wait_for(lambda: (up.var / "postgres" / "PG_VERSION").exists(), 60, up.log)
    up.child.send_signal(signal.SIGTERM)
    assert up.child.wait(60) == 0
    assert up.processes() == []


def test_a_variable_that_makes_no_sense_is_named(tmp_path: Path) -> None:
    environment = {**os.environ, "TOUCHSTONE_VAR": str(tmp_path), "PORT": "eight thousand"}
    command = [sys.executable, "-m", "config.stack"]
    done = subprocess.run(command, cwd=ROOT, env=environment, capture_output=True, text=True, check=False)
    assert done.returncode == 1
    assert "PORT must be a whole number, not 'eight thousand'" in done.stdout + done.stderr
    assert "Traceback" not in done.stderr


def second(up: Up) -> str:
    command = [sys.executable, "-m", "config.stack"]
    done = subprocess.run(command, cwd=ROOT, env=up.environment, capture_output=True, text=True, check=True)
    return done.stdout


def remembered(up: Up) -> str | None:
    server = Postgres(up.var)
    with psycopg.connect(host=server.host, user=server.user, dbname=server.database) as connection:
        return preparation._remembered(connection)
