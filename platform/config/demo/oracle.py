"""A human judge who never errs: categories are the truth, and verdicts go through the API like anybody's."""

from __future__ import annotations

import queue
import threading

from config.demo.site import Site, SiteError
from config.demo.traffic import Traffic


class Oracle:
    """Overrides near misses in a thread of its own, so that the stream of questions never waits for a verdict."""

    def __init__(self, site: Site, traffic: Traffic) -> None:
        self.site, self.traffic = site, traffic
        self.approved = self.rejected = 0
        self._seen: set[str] = set()
        self._waiting: queue.Queue[tuple[str, str] | None] = queue.Queue()
        self._thread = threading.Thread(target=self._run, name="oracle", daemon=True)
        self._thread.start()

    def hear(self, question: str, verification: str | None) -> None:
        """Take note of a near miss; each is judged once."""
        if verification and verification not in self._seen:
            self._seen.add(verification)
            self._waiting.put((question, verification))

    def waiting(self) -> int:
        """Say how many near misses wait for this judge."""
        return self._waiting.qsize()

    def finish(self, patience_s: float) -> None:
        """Judge what still waits, for so long at most."""
        self._waiting.put(None)
        self._thread.join(patience_s)

    def _run(self) -> None:
        while (heard := self._waiting.get()) is not None:
            try:
                self._judge(*heard)
            except SiteError:
                continue  # the stream meets the same trouble and says so

    def _judge(self, question: str, key: str) -> None:
        row = self.site.verification(key)
        if row is None:
            return
        same = self.traffic.truth(question) == self.traffic.truth(row["golden_question"])
        self.site.override(key, "APPROVE" if same else "REJECT")
        self.approved += same
        self.rejected += not same
