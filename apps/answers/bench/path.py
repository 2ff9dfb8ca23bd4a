"""The request path: exact hit, semantic hit and miss, in process and over HTTP, GPTCache beside us."""

from __future__ import annotations

import http.client
import json
import threading
import time
from collections.abc import Callable, Iterator, Sequence
from pathlib import Path
from typing import Any
from urllib.parse import urlsplit

import numpy as np

from apps.access.core.callers import Caller
from apps.answers import services
from apps.answers.bench import filling, peer, queue
from apps.answers.bench.questions import banking77, embedded
from apps.answers.models import Entry
from apps.answers.services import powers

PREFIX = "Hello, "  # turns a stored question into a near one
REQUESTS = 400
BLOCKS = 4
Times = list[float]


def rows(questions: Path, *, quick: bool, say: Callable[[str], None], url: str) -> Iterator[dict[str, Any]]:
    """Yield rows of part `path`; every request is a question that was not asked before."""
    caller, secret = filling.bench_caller()
    texts = list(dict.fromkeys(banking77(questions / "banking77")[0]))
    vectors = embedded(texts[:8_000], None) if not quick else embedded(texts[:1_000], None)
    for entries in (1_000,) if quick else (1_000, 10_000, 100_000):
        say(f"path: {entries} entries")
        asked = _prepare(caller, texts, vectors, entries)
        yield from _process(caller, asked, entries, texts, vectors, say)
        for clients in (1, 16) if url else ():
            for case in ("exact", "semantic", "miss"):
                times, seconds = _http(
                    url, secret, [asked(case) for _ in range(clients)], REQUESTS // (4 if clients > 1 else 1)
                )
                yield _row("touchstone", "http", case, entries, clients, times, seconds)
        if url and entries in (1_000 if quick else 10_000,):
            say("path: the judge idle, then 10,000 in its queue and its endpoint dead")
            yield from _judged(url, secret, asked, entries)
    Entry.objects.all().delete()


def _judged(url: str, secret: str, asked: Callable[[str], Iterator[str]], entries: int) -> Iterator[dict[str, Any]]:
    """Measure semantic hits in turns, with the judge idle and with a full queue before a dead endpoint."""
    times: dict[str, Times] = {"idle": [], "dead": []}
    seconds = {"idle": 0.0, "dead": 0.0}
    for _ in range(BLOCKS):
        for state in times:
            queue.state(state)
            spent, took = _http(url, secret, [asked("semantic")], REQUESTS // 2)
            times[state] += spent
            seconds[state] += took
    queue.state("idle")
    for state, spent in times.items():
        yield {**_row("touchstone", "http", "semantic", entries, 1, spent, seconds[state]), "judge": state}


def _prepare(caller: Caller, texts: list[str], vectors: Any, entries: int) -> Callable[[str], Iterator[str]]:
    """Fill one namespace with real questions, and a cloud of others up to the wanted number."""
    Entry.objects.all().delete()
    row = filling.namespace(caller, "default", sigma_min=0.85, guards={"never_cache": False})
    own = min(entries, len(vectors))
    filling.fill(row.id, texts[:own], vectors[:own])
    if entries > own:
        rest = entries - own
        filling.fill(row.id, [f"filler {i}" for i in range(rest)], filling.cloud(rest, seed=7))
    filling.settle()
    turn = {"exact": 0, "semantic": 0, "miss": 0}

    def asked(case: str) -> Iterator[str]:
        """Give questions of one kind, none of them twice."""
        while True:
            turn[case] += 1
            question = texts[(turn[case] * 7) % own].replace("\n", " ")
            if case == "exact":
                yield question
            elif case == "semantic":
                yield f"{PREFIX}{question}" + "?" * (turn[case] // own)
            else:
                yield f"Which number follows {turn[case]} in row {turn[case] * 13}?"

    return asked


def _process(
    caller: Caller,
    asked: Callable[[str], Iterator[str]],
    entries: int,
    texts: list[str],
    vectors: Any,
    say: Callable[[str], None],
) -> Iterator[dict[str, Any]]:
    """Measure in this process, request by request in turn with GPTCache over the same entries."""
    own = min(entries, len(vectors))
    with peer.started(texts[:own], vectors[:own], say) as other:
        times: dict[tuple[str, str], Times] = {}
        for case in ("exact", "semantic", "miss"):
            stream = asked(case)
            for number in range(REQUESTS // 2):
                question = next(stream)
                started = time.perf_counter()
                served = services.answer(caller, services.Question(question))
                spent = (time.perf_counter() - started) * 1e3
                if number >= 20:
                    times.setdefault(("touchstone", case), []).append(spent)
                    without = spent - served.timings_ms.get("embed", 0.0)
                    times.setdefault(("touchstone, embedding excluded", case), []).append(without)
                if other and number >= 20:
                    whole, embedding = other.ask(question)
                    times.setdefault(("gptcache", case), []).append(whole)
                    times.setdefault(("gptcache, embedding excluded", case), []).append(whole - embedding)
    for (system, case), spent_ms in times.items():
        yield _row(system, "process", case, entries, 1, spent_ms, sum(spent_ms) / 1e3)


def _http(url: str, secret: str, streams: Sequence[Iterator[str]], count: int) -> tuple[Times, float]:
    """Ask from as many threads as there are streams; returns (times in ms, seconds in all)."""
    times: Times = []
    where = urlsplit(url)

    def client(stream: Iterator[str]) -> None:
        connection = http.client.HTTPConnection(where.hostname or "127.0.0.1", where.port, timeout=60)
        headers = {"Authorization": f"Bearer {secret}", "Content-Type": "application/json"}
        for _ in range(count):
            body = json.dumps({"question": next(stream)})
            started = time.perf_counter()
            connection.request("POST", "/api/v1/answers/query/", body, headers)
            reply = connection.getresponse()
            reply.read()
            times.append((time.perf_counter() - started) * 1e3)
            if reply.status != 200:
                raise RuntimeError(f"the site answered {reply.status}")
        connection.close()

    drawn = [iter([next(stream) for _ in range(count)]) for stream in streams]
    threads = [threading.Thread(target=client, args=(stream,)) for stream in drawn]
    started = time.perf_counter()
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    return times, time.perf_counter() - started


def _row(system: str, door: str, case: str, entries: int, clients: int, times: Times, seconds: float) -> dict[str, Any]:
    p50, p95, p99 = (float(value) for value in np.percentile(times, [50, 95, 99]))
    head = {"part": "path", "system": system, "door": door, "case": case, "entries": entries, "clients": clients}
    return {**head, "judge": "idle", "p50_ms": p50, "p95_ms": p95, "p99_ms": p99, "per_s": len(times) / seconds}


def warm() -> None:
    """Load the embedder before anything is timed."""
    powers.embedder().embed(["warm"])
