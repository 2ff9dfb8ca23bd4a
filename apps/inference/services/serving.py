"""The worker's side of streams: a thread answers pictures, also while a job runs."""

from __future__ import annotations

import logging
import threading
import time
from collections import OrderedDict
from dataclasses import dataclass, field
from typing import Any

import redis
from django.conf import settings
from django.db import Error as DatabaseProblem
from django.db import close_old_connections, connection
from django.db.models import F
from django.db.models.functions import Now

from apps.inference.core import pictures, summing, tracks, video
from apps.inference.models import Stream
from apps.inference.services import jobs, wire
from apps.metrics import services as metrics

log = logging.getLogger(__name__)
LOOK_EVERY_S = 10.0
REASON = "size changed"


@dataclass(slots=True)
class Held:
    """One stream's cache in this process."""

    row: Stream
    track: tracks.Track
    size: tuple[int, int] = (0, 0)
    agreement: summing.Agreement = field(default_factory=summing.Agreement)
    plain: list[float] = field(default_factory=list)


class Server(threading.Thread):
    """Answers the pictures that are handed to this worker, one after the other."""

    def __init__(self) -> None:
        super().__init__(name="streams", daemon=True)
        self.worker = wire.new_name()
        self.held: OrderedDict[str, Held] = OrderedDict()
        self.stopping = threading.Event()
        self.looked = time.monotonic()

    def run(self) -> None:
        """Answer until stopped; Valkey's absence is waited out."""
        client = wire.waiting_client()
        threading.Thread(target=self._beat, name="streams-beat", daemon=True).start()
        while not self.stopping.is_set():
            try:
                request = wire.take(client, self.worker, 1)
                if request is not None:
                    self.answer(request)
                if time.monotonic() - self.looked > LOOK_EVERY_S:
                    self._forget_closed()
            except (redis.RedisError, DatabaseProblem):
                log.warning("streams wait: Valkey or the database does not answer")
                self.stopping.wait(1)
                connection.close()

    def _beat(self) -> None:
        """Say every second that this worker answers, also while a network is being compiled."""
        while not self.stopping.wait(1):
            try:
                wire.beat(self.worker)
            except redis.RedisError:
                continue

    def answer(self, request: wire.Request) -> None:
        """Perform one request and reply."""
        if request.verb == "close":
            self.held.pop(request.stream, None)
            return
        if time.time() > request.deadline:
            return
        close_old_connections()
        try:
            told = self._frame(request)
        except (pictures.PictureError, ValueError) as problem:
            told = {"status": 422, "detail": str(problem)}
        except Exception:
            log.exception("a picture of stream %s failed", request.stream)
            connection.close()
            self.held.pop(request.stream, None)
            told = {"status": 503, "detail": "The worker failed on this picture."}
        wire.answer(request, told)

    def _frame(self, request: wire.Request) -> dict[str, Any]:
        held = self._held(request.stream)
        if held is None:
            return {"status": 409, "detail": "This stream is closed; open another one."}
        image = pictures.decode(request.picture)
        size = image.shape[1], image.shape[0]
        changed = held.size not in {(0, 0), size}
        if changed:
            held.track.reset()
        held.size = size
        fitted = video.fit(image, held.track.recipe.height, held.track.recipe.width)
        number = held.row.frames
        seen = held.track.frame(fitted, size)
        self._note(held, seen)
        return {
            "frame": number,
            "outcome": seen.outcome,
            "reason": REASON if changed else seen.reason,
            "dirty_share": seen.dirty_share,
            "work_share": seen.work_share,
            "bail_out": seen.bail_out,
            "cached_ms": seen.cached_ms,
            "plain_ms": seen.plain_ms,
            "agreement": seen.agreement,
            "result": seen.result,
        }

    def _held(self, key: str) -> Held | None:
        """Give a stream's cache, begun anew where this process has none; None when the stream is not open."""
        held = self.held.get(key)
        if held is None:
            row = Stream.objects.select_related("network").filter(pk=key, status=Stream.Status.OPEN).first()
            if row is None:
                return None
            track = tracks.Track(row.network.recipe(), row.plan(), row.rung)
            known = row.agreement is not None
            so_far = summing.Agreement((row.agreement or 0.0) * row.measured, row.measured, begun=known)
            held = self.held[key] = Held(row, track, agreement=so_far if known else summing.Agreement())
        self.held.move_to_end(key)
        while len(self.held) > settings.INFERENCE["STREAMS"]:
            self.held.popitem(last=False)
        return held

    def _note(self, held: Held, seen: tracks.Seen) -> None:
        """Keep on the row what the frame was, and count it."""
        row, name = held.row, held.row.network.name
        row.frames += 1
        about: dict[str, Any] = {"width": held.size[0], "height": held.size[1], "rung": held.track.rung}
        held.agreement.add(seen.outcome, seen.agreement)
        about |= {"agreement": held.agreement.value, "measured": held.agreement.weight}
        Stream.objects.filter(pk=row.pk).update(
            frames=row.frames, last_frame_at=Now(), memory_bytes=held.track.memory_bytes(), **about,
            **{seen.outcome: F(seen.outcome) + 1},
        )  # fmt: skip
        metrics.count(row.workspace_id, jobs.CACHE, name, seen.outcome)
        metrics.observe(row.workspace_id, jobs.CACHE, name, seen.cached_ms)
        if seen.plain_ms is not None:
            held.plain = [*held.plain[-19:], seen.plain_ms]
        if held.plain:
            saved = sum(held.plain) / len(held.plain) - seen.cached_ms
            metrics.count(row.workspace_id, jobs.CACHE, name, "saved_ms", max(0, round(saved)))

    def _forget_closed(self) -> None:
        self.looked = time.monotonic()
        close_old_connections()
        still = Stream.objects.filter(pk__in=list(self.held), status=Stream.Status.OPEN).values_list("pk", flat=True)
        for key in set(self.held) - {str(pk) for pk in still}:
            del self.held[key]


def start() -> Server:
    """Begin to answer streams in this process."""
    server = Server()
    wire.beat(server.worker)
    server.start()
    return server
