"""Count in the process; a thread adds the counts to Valkey once a second in one pipeline."""

import atexit
import bisect
import logging
import threading
import time
from collections import Counter
from uuid import UUID

import redis

from apps.access import services as access

log = logging.getLogger(__name__)
BUCKET_S = 10
KEEP_S = 2 * 60 * 60
TOTALS = "touchstone:totals"
FLUSH_EVERY_S = 1.0
# Upper edges of the latency bins in ms, a tenth of a decade apart from 0.1 ms to 100 s.
EDGES_MS = tuple(round(10 ** (step / 10 - 1), 4) for step in range(61))

Field = tuple[int, str]


class Counts:
    """What this process counted since the last flush: (bucket, field) -> number."""

    def __init__(self) -> None:
        self.lock = threading.Lock()
        self.fields: Counter[Field] = Counter()
        self.thread: threading.Thread | None = None

    def add(self, field: str, number: int) -> None:
        """Add to a field of the current bucket."""
        bucket = int(time.time() // BUCKET_S) * BUCKET_S
        with self.lock:
            self.fields[bucket, field] += number
            if self.thread is None or not self.thread.is_alive():
                self.thread = threading.Thread(target=self._run, name="metrics", daemon=True)
                self.thread.start()

    def take(self) -> Counter[Field]:
        """Take what is there and start again from nothing."""
        with self.lock:
            taken, self.fields = self.fields, Counter()
        return taken

    def put_back(self, fields: Counter[Field]) -> None:
        """Keep what could not be flushed for the next try."""
        with self.lock:
            self.fields.update(fields)

    def _run(self) -> None:
        while True:
            time.sleep(FLUSH_EVERY_S)
            flush()


_counts = Counts()


def bucket_key(bucket: int) -> str:
    """Name the Valkey hash of a ten-second bucket that starts at a Unix time."""
    return f"touchstone:tally:{bucket}"


def total_field(field: str) -> str:
    """Name the all-time counter of a bucket's field: cache and name, of no workspace in particular."""
    _, cache, rest = field.split("|", 2)
    return f"{cache}|{rest.rpartition('|')[2]}"


def count(workspace_id: UUID, cache: str, subject: str, name: str, number: int = 1) -> None:
    """Count an outcome, a guard's veto, bytes: anything that adds up."""
    _counts.add(f"{workspace_id}|{cache}|{subject}|{name}", number)


def bin_of(milliseconds: float) -> int:
    """Place a latency in the first bin whose upper edge it does not pass; the last bin has no edge."""
    return bisect.bisect_left(EDGES_MS, milliseconds)


def observe(workspace_id: UUID, cache: str, subject: str, milliseconds: float) -> None:
    """Put a latency into its bin."""
    _counts.add(f"{workspace_id}|{cache}|{subject}|ms:{bin_of(milliseconds)}", 1)


def flush() -> int:
    """Add everything counted here to Valkey; what Valkey does not take stays for the next time."""
    fields = _counts.take()
    if not fields:
        return 0
    pipe = access.valkey().pipeline(transaction=False)
    for (bucket, field), number in fields.items():
        pipe.hincrby(bucket_key(bucket), field, number)
        pipe.hincrby(TOTALS, total_field(field), number)
    for bucket in {bucket for bucket, _ in fields}:
        pipe.expire(bucket_key(bucket), KEEP_S)
    try:
        pipe.execute()
    except redis.RedisError:
        log.warning("Valkey does not take counts; they are kept for the next second")
        _counts.put_back(fields)
        return 0
    return len(fields)


atexit.register(flush)
