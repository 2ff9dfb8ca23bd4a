"""The request path: exact hit, semantic hit and miss, in process and over HTTP, GPTCache beside us."""

from __future__ import annotations

import threading
import time
from collections.abc import Callable, Iterator, Sequence
from pathlib import Path
from typing import Any

from apps.access.core.callers import Caller
from apps.answers import services
from apps.answers.bench import backlog, filling, peer
from apps.answers.bench.client import Client, Reply
from apps.answers.bench.measured import Case, Measured
from apps.answers.bench.questions import Pool, pool
from apps.answers.models import Entry, GoldenAnswer, Verification

CASES = ("exact", "semantic", "miss")
WARM = 10
Ask = Callable[[str], Reply]


def rows(
    questions: Path, *, quick: bool, say: Callable[[str], None], url: str, cache: Path | None
) -> Iterator[dict[str, Any]]:
    """Yield rows of part `path`: medians over repetitions in which all systems and cases take turns."""
    caller, secret = filling.bench_caller()
    known = pool(questions, 4_000, cache)
    repetitions, requests = (1, 60) if quick else (3, 100)
    for entries in (10_000,) if quick else (1_000, 10_000, 100_000):
        measured = Measured()
        say(f"path: {entries} entries")
        _fill(caller, known, entries)
        with peer.started(known, entries, say) as other:
            for _ in range(repetitions):
                _in_process(measured, caller, other, known, entries, requests)
        for _ in range(repetitions if url else 0):
            for clients in (1, 16):
                for case in CASES:
                    about = Case("touchstone", "http", case, entries, clients)
                    over_http(measured, about, url, secret, known, requests * 2 if clients == 1 else requests // 2)
        if url and entries == 10_000:
            judged(measured, entries, url, secret, known, repetitions, requests * 2)
        say(f"path: {measured.strange} of {measured.asked} replies were not what their case is about")
        yield from measured.rows()
    _clear()


def over_http(measured: Measured, about: Case, url: str, secret: str, known: Pool, requests: int) -> None:
    """Ask from as many connections as the case has clients, all at once."""
    drawn = [[known.next(about.case) for _ in range(requests)] for _ in range(about.clients)]
    replies: list[Reply] = []

    def run(texts: Sequence[str]) -> None:
        client = Client(url, secret)
        replies.extend([client.ask(text) for text in texts])
        client.close()

    threads = [threading.Thread(target=run, args=(texts,)) for texts in drawn]
    started = time.perf_counter()
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    if len(replies) < requests * about.clients:
        raise RuntimeError("a client of the benchmark broke off; its trace stands above")
    measured.add(about, replies, time.perf_counter() - started)


def judged(
    measured: Measured, entries: int, url: str, secret: str, known: Pool, repetitions: int, requests: int
) -> None:
    """Ask while the judge is idle, works off a full queue, and stands before a dead endpoint with a full queue."""
    for _ in range(repetitions):
        for state in backlog.STATES:
            backlog.bring_about(state)
            for case in ("exact", "semantic"):
                about = Case("touchstone", "http", case, entries, 1, state)
                over_http(measured, about, url, secret, known, requests)
    backlog.bring_about("idle")


def _in_process(
    measured: Measured, caller: Caller, other: peer.Peer | None, known: Pool, entries: int, requests: int
) -> None:
    """Ask request by request in turn, so that whatever else the machine does meets both alike."""
    systems: dict[str, Ask] = {"touchstone": lambda text: _ask_here(caller, text)}
    if other:
        systems["gptcache"] = other.ask
    for case in CASES:
        replies: dict[str, list[Reply]] = {name: [] for name in systems}
        for number in range(WARM + requests):
            text = known.next(case)
            for name, ask in systems.items():
                reply = ask(text)
                if number >= WARM:
                    replies[name].append(reply)
        for name, found in replies.items():
            measured.add(Case(name, "process", case, entries, 1), found, sum(reply.ms for reply in found) / 1e3)


def _ask_here(caller: Caller, text: str) -> Reply:
    started = time.perf_counter()
    served = services.answer(caller, services.Question(text))
    spent = (time.perf_counter() - started) * 1e3
    return Reply(spent, served.timings_ms.get("embed", 0.0), served.outcome)


def _fill(caller: Caller, known: Pool, entries: int) -> None:
    """Fill one namespace: a tenth of the real questions golden, the rest entries, a cloud of others to the number."""
    _clear()
    row = filling.namespace(caller, "default", sigma_min=0.85, guards={"never_cache": False})
    own = known.store(entries)
    golden = own // 10
    filling.publish(row, known.texts[:golden], known.vectors[:golden], known.classes[:golden])
    filling.fill(row.id, known.texts[golden:own], known.vectors[golden:own])
    filling.fill(row.id, *known.filler(entries))
    filling.settle()


def _clear() -> None:
    Verification.objects.all().delete()
    Entry.objects.all().delete()
    GoldenAnswer.objects.all().delete()
