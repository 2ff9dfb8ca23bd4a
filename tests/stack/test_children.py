"""Children never outlive who started them."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
from pathlib import Path

from config.stack import children
from tests.conftest import wait_for

PARENT = """
import sys, time
from config.stack import children
child = children.start([sys.executable, "-c", "import time; print('up', flush=True); time.sleep(600)"], output=None)
print(child.pid, flush=True)
time.sleep(600)
"""


def lives(pid: int) -> bool:
    try:
        return Path(f"/proc/{pid}/stat").read_text().rsplit(")", 1)[1].split()[0] != "Z"
    except FileNotFoundError:
        return False


def test_a_child_ends_when_its_parent_is_killed() -> None:
    parent = subprocess.Popen([sys.executable, "-c", PARENT], stdout=subprocess.PIPE, text=True)
    assert parent.stdout is not None
    words = {parent.stdout.readline().strip(), parent.stdout.readline().strip()}
    pid = int((words - {"up"}).pop())
    assert lives(pid)
    parent.kill()
    parent.wait()
    parent.stdout.close()
    wait_for(lambda: not lives(pid))


def test_what_a_killed_child_started_ends_too() -> None:
    child = children.start(["/bin/sh", "-c", "sleep 600 & echo $!; wait"], output=subprocess.PIPE)
    assert child.stdout is not None
    grandchild = int(child.stdout.readline())
    os.kill(child.pid, signal.SIGKILL)
    wait_for(lambda: children.ended(child))
    wait_for(lambda: not lives(grandchild))
    child.stdout.close()


def test_a_child_that_does_not_listen_is_made_to_end() -> None:
    stubborn = "import signal, time; signal.signal(15, signal.SIG_IGN); print('deaf', flush=True); time.sleep(600)"
    child = children.start([sys.executable, "-c", stubborn], output=subprocess.PIPE)
    assert child.stdout is not None
    assert child.stdout.readline() == b"deaf\n"
    children.stop(child, patience_s=0.2)
    assert child.returncode == -signal.SIGKILL
    child.stdout.close()


def test_every_child_computes_with_one_thread() -> None:
    child = children.start(["/bin/sh", "-c", "echo $OMP_NUM_THREADS$MKL_NUM_THREADS"], output=subprocess.PIPE)
    assert child.stdout is not None
    assert child.stdout.read() == b"11\n"
    child.wait()
    child.stdout.close()
