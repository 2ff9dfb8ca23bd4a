"""Register videos, cut and describe them, forget them."""

from __future__ import annotations

import shutil
from collections.abc import Iterable
from typing import Any
from uuid import UUID

import httpx
from django.conf import settings
from django.db import transaction
from django.db.models.functions import Now
from pgvector.django import CosineDistance

from apps.access import services as access
from apps.access.core.callers import Caller
from apps.segments.core import captions as caption_files
from apps.segments.core import ingest, manifest, outline
from apps.segments.models import Moment, Segment, Video
from apps.segments.services import describing, storage

MOST_SEGMENTS = 20_000
READ_S = 10.0
CUTTING, DESCRIBING = 0.9, 1.0  # shares of the work that are done after each step


def find(caller: Caller, pk: UUID | str) -> Video:
    """Give a video of the caller's workspace.

    Raises:
        Missing: there is none.
    """
    key = pk if isinstance(pk, UUID) else _uuid(pk)
    row = Video.objects.filter(pk=key, workspace_id=caller.workspace_id).first() if key else None
    if row is None:
        raise access.Missing("This workspace has no such video.", field="video")
    return row


def _uuid(text: str) -> UUID | None:
    try:
        return UUID(text)
    except ValueError:
        return None


@transaction.atomic
def register(caller: Caller, values: dict[str, Any], upload: Iterable[bytes] | None = None) -> Video:
    """Register an upload, or the HLS manifest named in `values`; a worker does the rest.

    Raises:
        Invalid: captions, outline or manifest cannot be meant, or there is neither an upload nor a manifest, or both.
        TooLarge: the upload has too many bytes.
    """
    address = values.get("manifest", "")
    if bool(address) == (upload is not None):
        raise access.Invalid("Send a video as `file`, or the address of its `manifest`.", field="file")
    if address:
        _allowed(address)
    kept = {**values, "outline": _outline(values.get("outline") or []), "captions": _captions(values.get("captions"))}
    file = storage.keep(upload, settings.SEGMENTS["VIDEO_BYTES"]) if upload is not None else ""
    row = Video.submit(workspace_id=caller.workspace_id, by=caller.name, file=file, **kept)
    access.record(caller, "registered", row, title=row.title)
    return row


def _allowed(address: str) -> str:
    """Give the origin of a manifest if it is one of those that may be asked."""
    try:
        origin = manifest.origin_of(address)
    except manifest.BrokenManifest as problem:
        raise access.Invalid(str(problem), field="manifest") from problem
    known = [manifest.origin_of(each) for each in settings.SEGMENTS["ORIGINS"]]
    if origin not in known:
        raise access.Invalid("Manifests are read only from the origins in SEGMENTS_ORIGINS.", field="manifest")
    return origin


def _outline(points: Any) -> list[dict[str, Any]]:
    try:
        return [point.told() for point in outline.read(points)]
    except outline.BrokenOutline as problem:
        raise access.Invalid(str(problem), field="outline") from problem


def _captions(text: str | None) -> str:
    try:
        if text and text.strip():
            caption_files.parse(text)
    except caption_files.BrokenCaptions as problem:
        raise access.Invalid(str(problem), field="captions") from problem
    return text or ""


def perform(row: Video) -> None:
    """Cut an upload or read a manifest, then describe every segment; told again it starts afresh."""
    if row.file:
        _cut(row)
    else:
        _read(row)
    describing.describe(row)
    Video.objects.filter(pk=row.pk).update(done=DESCRIBING, features_at=Now())


def _cut(row: Video) -> None:
    folder, file = storage.hls_folder(row.folder), storage.upload_of(row)
    shutil.rmtree(folder, ignore_errors=True)
    folder.mkdir(parents=True)

    def progress(share: float) -> bool:
        Video.objects.filter(pk=row.pk).update(done=round(share * CUTTING, 3))
        return row.renew()

    ladder = ingest.segment(file, folder, progress)
    segments = []
    for place, rung in enumerate(ladder):
        text = (folder / rung.playlist).read_text()
        found = manifest.parse(text, f"http://here/{place}/index.m3u8")
        for each in found.segments:
            name = f"{place}/{each.url.rpartition('/')[2]}"
            size = (folder / name).stat().st_size
            path = storage.address(row, name)
            segments.append(Segment(video=row, rendition=place, index=each.index, start_s=each.start,
                                    duration_s=each.seconds, bytes=size, path=path))  # fmt: skip
    told = [{"name": each.name, "width": each.width, "height": each.height, "bandwidth": each.bandwidth}
            for each in ladder]  # fmt: skip
    _keep(row, segments, told)


def _read(row: Video) -> None:
    """Read a manifest and its renditions; sizes are what the bandwidth says."""
    origin = _allowed(row.manifest)
    with httpx.Client(timeout=READ_S, trust_env=False, follow_redirects=False) as client:
        master = manifest.parse(_get(client, row.manifest), row.manifest, origin)
        variants = sorted(master.variants, key=lambda each: each.bandwidth) or [manifest.Variant(row.manifest, 10**6)]
        playlists = [manifest.parse(_get(client, each.url), each.url, origin) for each in variants]
    segments = [
        Segment(video=row, rendition=place, index=each.index, start_s=each.start, duration_s=each.seconds,
                bytes=int(each.seconds * variants[place].bandwidth / 8), path=each.url.removeprefix(origin))
        for place, playlist in enumerate(playlists) for each in playlist.segments
    ]  # fmt: skip
    told = [{"name": f"{each.height}p" if each.height else f"{each.bandwidth // 1000}k", "width": each.width,
             "height": each.height, "bandwidth": each.bandwidth} for each in variants]  # fmt: skip
    _keep(row, segments, told)


def _get(client: httpx.Client, url: str) -> str:
    with client.stream("GET", url) as reply:
        if reply.status_code != 200:
            raise manifest.BrokenManifest(f"The origin answered {reply.status_code} for {url[:200]}.")
        parts, size = [], 0
        for part in reply.iter_bytes():
            size += len(part)
            if size > manifest.MAX_CHARACTERS:
                raise manifest.BrokenManifest("The playlist is too long.")
            parts.append(part)
    return b"".join(parts).decode(errors="replace")


@transaction.atomic
def _keep(row: Video, segments: list[Segment], renditions: list[dict[str, Any]]) -> None:
    if not segments or len(segments) > MOST_SEGMENTS:
        raise manifest.BrokenManifest(f"A video has 1 to {MOST_SEGMENTS:,} segments over all renditions.")
    Segment.objects.filter(video=row).delete()
    Segment.objects.bulk_create(segments, batch_size=1_000)
    ends = max(each.start_s + each.duration_s for each in segments)
    Video.objects.filter(pk=row.pk).update(duration_s=ends, renditions=renditions, done=CUTTING)


@transaction.atomic
def remove(caller: Caller, row: Video) -> None:
    """Forget a video, its segments, pins and views; edges drop its files with their next plans."""
    access.record(caller, "deleted", row, title=row.title)
    folder, file = row.folder, row.file
    transaction.on_commit(lambda: storage.forget(folder, file))
    row.delete()


def similar(row: Video, index: int, count: int = 20) -> list[tuple[Moment, float]]:
    """Find the segments of the workspace most like one of a video: (moment, cosine), nearest first.

    Raises:
        Missing: the video has no such segment, or nothing is known of it.
    """
    own = Moment.objects.filter(video=row, index=index).first()
    if own is None or own.vector is None:
        raise access.Missing("Nothing is known of this segment.", field="index")
    near = Moment.objects.filter(video__workspace_id=row.workspace_id, vector__isnull=False).exclude(pk=own.pk)
    near = near.annotate(distance=CosineDistance("vector", own.vector)).select_related("video").order_by("distance")
    return [(moment, 1 - float(moment.distance)) for moment in near[:count]]
