"""Run a job in the worker: frame by frame, stored in batches, resumable from the last stored frame."""

from __future__ import annotations

import itertools
import logging
import time
from collections import Counter
from collections.abc import Iterator
from dataclasses import asdict
from pathlib import Path
from typing import Any

from django.conf import settings
from django.db import transaction
from django.db.models.functions import Now

from apps.inference.core import annotating, drawing, summing, tracks, video
from apps.inference.models import Frame, Job, Network
from apps.inference.services import jobs, progress, storage
from apps.metrics import services as metrics

log = logging.getLogger(__name__)
BATCH = 256
FLUSH_S = 1.0  # also how soon a running job notices that it was cancelled


class Stopped(Exception):
    """The job was cancelled, or taken away from this worker."""


def perform(row: Job) -> None:
    """Run a job to its end; what is wrong with its file is told on the job, not raised."""
    try:
        _run(row)
    except Stopped:
        log.info("job %s was stopped", row.pk)
    except (video.VideoError, annotating.AnnotateError) as problem:
        text = str(problem)
        Job.objects.filter(pk=row.pk, status=Job.Status.RUNNING).update(
            status=Job.Status.FAILED, error=text[:1].upper() + text[1:], finished_at=Now(), leased_until=None
        )
    row.refresh_from_db()
    if row.status != Job.Status.RUNNING:
        progress.announce(row)


def _run(row: Job) -> None:
    path = _path(row)
    if not row.sha256:
        row.sha256 = storage.digest_of(path)
        Job.objects.filter(pk=row.pk).update(sha256=row.sha256)
    if not row.done and (earlier := jobs.same(row)):
        jobs.give(row, earlier)
        return
    info = video.probe(path)
    Job.objects.filter(pk=row.pk).update(video=asdict(info), total=info.frames or None)
    row.video, row.total = asdict(info), info.frames or None
    if not row.renew():
        raise Stopped
    Recording(row, path, info).play()
    if row.network.purpose == Network.Task.DETECTION:
        _annotate(row, path, info)
    row.refresh_from_db()
    Job.objects.filter(pk=row.pk, status=Job.Status.RUNNING).update(
        status=Job.Status.DONE, error="", finished_at=Now(), leased_until=None
    )


def _path(row: Job) -> Path:
    """Find the video; a path a client named is checked again, since links may have changed."""
    if row.uploaded:
        return storage.root() / row.file
    try:
        return storage.root() / storage.named(row.file)
    except Exception as problem:
        raise video.VideoError(str(problem)) from problem


class Recording:
    """One pass over a video: what was computed and is not stored yet, and the statistics so far."""

    def __init__(self, row: Job, path: Path, info: video.Info) -> None:
        self.row, self.path, self.info = row, path, info
        self.tape = summing.Tape()
        self.waiting: list[Frame] = []
        self.flushed = time.monotonic()
        kept = ("outcome", "work_share", "cached_ms", "plain_ms", "agreement", "bail_out")
        for values in row.rows().values_list(*kept).iterator(5_000):
            self.tape.add(*values)
        self.at = len(self.tape.cached)

    def play(self) -> None:
        """Run the frames that are not stored yet.

        Raises:
            VideoError: the file is broken; frames before that are stored.
            Stopped: somebody took the job away.
        """
        recipe = self.row.network.recipe()
        track = tracks.Track(recipe, self.row.plan(), self.row.rung)
        images = itertools.islice(video.frames(self.path, recipe.height, recipe.width), self.at, None)
        try:
            for image in images:
                self._take(image, track)
                if len(self.waiting) >= BATCH or time.monotonic() - self.flushed > FLUSH_S:
                    self.flush(track.rung)
        finally:
            if self.waiting:
                self.flush(track.rung)
        Job.objects.filter(pk=self.row.pk).update(total=self.at)

    def _take(self, image: tracks.Image, track: tracks.Track) -> None:
        size = (self.info.width, self.info.height)
        seen = track.frame(image, size)
        about = asdict(seen)
        about["grid"] = tracks.packed(seen.grid)
        shown = self.at < settings.INFERENCE["PICTURES"]
        picture = drawing.thumbnail(image, size) if shown else None
        self.waiting.append(Frame(job=self.row, number=self.at, picture=picture, **about))
        self.tape.add(seen.outcome, seen.work_share, seen.cached_ms, seen.plain_ms, seen.agreement, seen.bail_out)
        self.at += 1

    def flush(self, rung: int | None) -> None:
        """Store what waits, renew the lease, tell the watchers; all or nothing.

        Raises:
            Stopped: the row is not ours any more; what waited is forgotten.
        """
        rows, self.waiting = self.waiting, []
        about = {"done": self.at, "stats": self.tape.stats(), "rung": rung}
        with transaction.atomic():
            if not self.row.renew():
                raise Stopped
            Frame.objects.bulk_create(rows)
            Job.objects.filter(pk=self.row.pk).update(**about)
        self.row.done, self.row.stats, self.flushed = self.at, about["stats"], time.monotonic()
        count(self.row, rows, self.tape)
        progress.announce(self.row)


def count(row: Job, rows: list[Frame], tape: summing.Tape) -> None:
    """Count outcomes, times and what was saved against the plain engine's mean."""
    name = row.network.name
    for outcome, number in Counter(each.outcome for each in rows).items():
        metrics.count(row.workspace_id, jobs.CACHE, name, outcome, number)
    for each in rows:
        metrics.observe(row.workspace_id, jobs.CACHE, name, each.cached_ms)
    if tape.plain:
        mean = sum(tape.plain) / len(tape.plain)
        saved = sum(mean - each.cached_ms for each in rows)
        metrics.count(row.workspace_id, jobs.CACHE, name, "saved_ms", max(0, round(saved)))


def _annotate(row: Job, path: Path, info: video.Info) -> None:
    target = storage.folder(row.workspace_id, "annotated") / f"{row.pk}.mp4"
    beside = target.with_suffix(".part")
    last = time.monotonic()

    def go_on() -> bool:
        nonlocal last
        if time.monotonic() - last < FLUSH_S:
            return True
        last = time.monotonic()
        return row.renew()

    try:
        if not annotating.annotate(path, beside, info, _boxes(row), go_on):
            raise Stopped
        beside.replace(target)
    finally:
        beside.unlink(missing_ok=True)
    Job.objects.filter(pk=row.pk).update(annotated=str(target.relative_to(storage.root())))


def _boxes(row: Job) -> Iterator[list[dict[str, Any]]]:
    for result in row.rows().values_list("result", flat=True).iterator(500):
        yield result.get("boxes", [])
