"""`python -m workers.edge`: run the agent of one edge until it is told to stop."""

from __future__ import annotations

import fcntl
import signal
import sys

from workers.edge import settings
from workers.edge.agent import Agent


def main() -> int:
    """Run the agent; one at a time for each edge."""
    try:
        told = settings.from_environment()
    except (settings.SettingsProblem, OSError) as problem:
        print(problem, file=sys.stderr)
        return 1
    told.folder.mkdir(parents=True, exist_ok=True)
    with (told.folder / "agent.lock").open("w") as lock:
        try:
            fcntl.flock(lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError:
            print(f"another agent holds {told.folder}", file=sys.stderr)
            return 1
        agent = Agent(told)
        for number in (signal.SIGINT, signal.SIGTERM):
            signal.signal(number, lambda *_: agent.stopped.set())
        agent.run()
    return 0


if __name__ == "__main__":
    sys.exit(main())
