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

# An orphan that has ended, an orphan of its own session that does not listen, and a child nobody noted.
LEAVING = """
import subprocess, sys, time
from config.stack import children
children.adopt_orphans()
short, deaf = "sleep 0.1 & echo $!", "trap '' TERM; setsid sleep 600 & echo $!; exit"
for command in (short, deaf):
    subprocess.run(["/bin/sh", "-c", command], stdout=sys.stdout, check=True)
watched = children.start([sys.executable, "-c", "import time; time.sleep(600)"])
print(watched.pid, flush=True)
time.sleep(0.3)
children.collect_orphans({watched.pid})
assert children._living().count(watched.pid) == 1
assert watched.poll() is None
children.end_rest(patience_s=0.5)
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


def test_the_rest_is_ended_whoever_started_it() -> None:
    done = subprocess.run([sys.executable, "-c", LEAVING], capture_output=True, text=True, check=True, timeout=60)
    dead, *others = (int(pid) for pid in done.stdout.split())
    assert not Path(f"/proc/{dead}").exists()
    assert len(others) == 2
    assert not any(Path(f"/proc/{pid}").exists() for pid in others)
