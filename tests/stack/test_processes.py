"""The supervisor keeps processes running and prints what they say."""

from __future__ import annotations

import subprocess
import sys

import pytest

from config.stack import children, processes
from config.stack.processes import Process, Supervisor, site
from tests.conftest import wait_for


def test_a_process_that_dies_starts_again_a_little_later(capfd: pytest.CaptureFixture[str]) -> None:
    supervisor = Supervisor()
    supervisor.start(Process("mayfly", ["/bin/sh", "-c", "echo I live; exit 3"]))
    said = ""

    def lived_thrice() -> bool:
        nonlocal said
        supervisor.tend(0.05)
        said += capfd.readouterr().out
        return said.count("mayfly | I live") >= 3

    wait_for(lived_thrice)
    supervisor.stop()
    assert "mayfly ended with 3; it starts again in 1 s" in said
    assert "mayfly ended with 3; it starts again in 2 s" in said


def test_lines_come_whole_and_under_their_names(capfd: pytest.CaptureFixture[str]) -> None:
    supervisor = Supervisor()
    script = "printf 'half a '; sleep 0.3; printf 'line\\n\\n\\377 no text\\nno end'; exec sleep 600"
    supervisor.start(Process("poet", ["/bin/sh", "-c", script]))
    said = ""

    def finished() -> bool:
        nonlocal said
        supervisor.tend(0.05)
        said += capfd.readouterr().out
        return "no text" in said

    wait_for(finished)
    supervisor.stop()
    said += capfd.readouterr().out
    assert [line.strip() for line in said.splitlines()] == [
        "poet | half a line",
        "poet | \ufffd no text",
        "poet | no end",
    ]


def test_a_server_that_cannot_start_yet_is_tried_again(
    capfd: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(processes, "LONGEST_PAUSE_S", 0.1)
    attempts: list[int] = []

    def launch() -> subprocess.Popen[bytes]:
        attempts.append(len(attempts))
        if len(attempts) == 2:
            raise OSError("the folder is taken")
        return children.start(["/bin/sh", "-c", "exit 1"])

    supervisor = Supervisor()
    supervisor.watch("server", launch, None)

    def tried_thrice() -> bool:
        supervisor.tend(0.02)
        return len(attempts) >= 3

    wait_for(tried_thrice)
    wait_for(lambda: children.ended(supervisor.watched[0].child))
    assert "server cannot start: the folder is taken" in capfd.readouterr().out


def test_stopping_ends_those_that_do_not_listen() -> None:
    supervisor = Supervisor()
    deaf = "import signal, time; signal.signal(15, signal.SIG_IGN); print('deaf', flush=True); time.sleep(600)"
    supervisor.start(Process("web", ["/bin/sleep", "600"]))
    supervisor.start(Process("deaf", [sys.executable, "-c", deaf]))
    supervisor.tend(5)
    supervisor.stop(patience_s=0.3)
    assert [one.child.returncode for one in supervisor.watched] == [-15, -9]


def test_the_web_stops_first_and_every_queue_has_a_worker() -> None:
    names = [process.name for process in site(8000)]
    assert names[0] == "web"
    assert {"judge", "clock"} <= set(names)
    assert len(names) == len(set(names))
