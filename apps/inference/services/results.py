"""What came out of a job: lines, tables, pictures, the report."""

from __future__ import annotations

import csv
import io
import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from django.db.models import F, Max, Q, QuerySet

from apps.access import services as access
from apps.inference.core import drawing, reports, tracks
from apps.inference.models import Frame, Job
from apps.inference.services import storage

PART = 500
MAPS = 6
COLUMNS = ("frame", *(name for name in Frame.LIGHT if name != "number"))


def line(row: dict[str, Any]) -> dict[str, Any]:
    """Write one frame as it is told everywhere: `frame` is its number from 0."""
    return {"frame": row["number"], **{name: row[name] for name in Frame.LIGHT if name != "number"}}


def json_lines(job: Job) -> Iterator[str]:
    """Give every frame as a line of JSON, in parts."""
    for part in _parts(job):
        yield "".join(json.dumps(line(row), separators=(",", ":")) + "\n" for row in part)


def table(job: Job) -> Iterator[str]:
    """Give every frame as a line of CSV, in parts; the result is one cell of JSON."""
    yield _csv([list(COLUMNS)])
    for part in _parts(job):
        rows = [{**line(row), "result": json.dumps(row["result"], separators=(",", ":"))} for row in part]
        yield _csv([["" if row[name] is None else row[name] for name in COLUMNS] for row in rows])


def _csv(rows: list[list[Any]]) -> str:
    out = io.StringIO()
    csv.writer(out).writerows(rows)
    return out.getvalue()


def _parts(job: Job) -> Iterator[list[dict[str, Any]]]:
    """Read frames in pieces by number, so that a long export holds no cursor open."""
    at = -1
    while part := list(job.rows().filter(number__gt=at).values(*Frame.LIGHT)[:PART]):
        yield part
        at = part[-1]["number"]


def reuse_map(job: Job, number: int) -> bytes:
    """Draw what a frame recomputed, as a PNG.

    Raises:
        Missing: the job has no such frame.
    """
    row = job.rows().filter(number=number).first() if number <= 2_147_483_647 else None
    if row is None:
        raise access.Missing("This job has no such frame.")
    return _drawn(job, row)


def _drawn(job: Job, row: Frame) -> bytes:
    grid = tracks.unpacked(bytes(row.grid))
    size = int(job.video.get("width") or grid.shape[1]), int(job.video.get("height") or grid.shape[0])
    return drawing.reuse_map(grid, bytes(row.picture) if row.picture is not None else None, size)


def annotated(job: Job) -> Path:
    """Find the annotated video.

    Raises:
        Missing: there is none: the job has not ended well, or its network detects nothing.
    """
    path = storage.root() / job.annotated
    if not job.annotated or not path.is_file():
        raise access.Missing("There is no annotated video: only finished jobs of detection have one.")
    return path


def report(job: Job) -> str:
    """Write the report as one HTML page that needs nothing from outside."""
    rows = job.rows()
    most = rows.aggregate(last=Max("number"))["last"]
    step = 1 if most is None else max(1, (most + 1) // reports.POINTS)
    points = [_point(row) for row in _sampled(rows, step)]
    maps = [reports.Map(_drawn(job, row), _caption(row)) for row in _telling(rows)]
    return reports.page(_title(job), _facts(job), job.stats, points, maps, job.error)


def _sampled(rows: QuerySet[Frame], step: int) -> QuerySet[Frame]:
    """Keep every n-th frame, and those where the plain engine ran beside."""
    light = rows.only(*Frame.LIGHT[:-1]).alias(rest=F("number") % step)
    return light.filter(Q(rest=0) | Q(plain_ms__isnull=False))


def _point(row: Frame) -> reports.Point:
    return reports.Point(
        row.number,
        row.outcome,
        row.cached_ms,
        row.plain_ms,
        row.work_share,
        row.dirty_share,
        row.agreement,
        row.bail_out,
    )


def _telling(rows: QuerySet[Frame]) -> list[Frame]:
    """Choose frames whose maps tell something: partial ones, spread over the job."""
    numbers = list(rows.filter(outcome=Frame.Outcome.PARTIAL).values_list("number", flat=True)[:20_000])
    chosen = [numbers[len(numbers) * place // MAPS] for place in range(min(MAPS, len(numbers)))]
    return list(rows.filter(number__in=set(chosen)))


def _caption(row: Frame) -> str:
    return f"frame {row.number}: {row.work_share:.0%} of the work, {row.dirty_share:.0%} of the blocks changed"


def _title(job: Job) -> str:
    return f"{job.title or 'Video'} · {job.network.name}"


def _facts(job: Job) -> str:
    size = f"{job.video['width']}x{job.video['height']}, {job.video['codec']}" if job.video else "size unknown"
    given = {name: value for name, value in job.settings().items() if name != "mode" and value is not None}
    written = ", ".join(f"{name} {value}" for name, value in given.items())
    when = f"{job.created_at:%Y-%m-%d %H:%M} UTC"
    stored = "; results stored by an earlier job" if job.stored else ""
    return f"{when}; {job.get_status_display().lower()}; {size}; mode {job.mode}, {written}{stored}"
