"""Describe every segment of a video: how it looks, and what is said, from the best source of words there is."""

from __future__ import annotations

import logging
from pathlib import Path

import numpy as np
import numpy.typing as npt
from django.conf import settings
from django.db import transaction
from django.utils.module_loading import import_string

from apps.segments.core import captions, features, ingest, outline, slides
from apps.segments.core.captions import Cue
from apps.segments.models import Moment, Segment, Tuning, Video
from apps.segments.services import storage, tuning

log = logging.getLogger(__name__)
Pictures = npt.NDArray[np.uint8]
NONE: Pictures = np.zeros((0, features.SIDE, features.SIDE, 3), np.uint8)


def describe(row: Video) -> None:
    """Describe a video afresh; one that cannot be seen here is described by its words."""
    chosen = tuning.of(row.workspace_id)
    first = list(Segment.objects.filter(video=row, rendition=0).order_by("index"))
    starts, ends = [each.start_s for each in first], [each.start_s + each.duration_s for each in first]
    pictures = _pictures(row, ends[-1], chosen)
    cues = _words(row, ends[-1], pictures, chosen)
    points = outline.read(row.outline)
    rows = []
    seen = pictures if chosen.pictures else NONE
    for each, told in zip(first, features.describe(seen, cues, starts, ends, row.kind), strict=True):
        point = outline.at(points, each.start_s)
        rows.append(Moment(video=row, index=each.index, text=told.text,
                           vector=None if told.vector is None else told.vector.tolist(), density=told.density,
                           continuity=told.continuity, cuts=told.cuts, point=point.title if point else ""))  # fmt: skip
    with transaction.atomic():
        Moment.objects.filter(video=row).delete()
        Moment.objects.bulk_create(rows, batch_size=1_000)


def _pictures(row: Video, ends: float, chosen: Tuning) -> Pictures:
    """Decode one small picture a second, where anybody wants to look."""
    if not row.file or not settings.SEGMENTS["LOOK"] or not (chosen.pictures or chosen.slides):
        return NONE
    seen = ingest.thumbnails(storage.upload_of(row), ends, side=features.SIDE)
    whole = len(seen) // (features.SIDE**2 * 3) * features.SIDE**2 * 3
    return np.frombuffer(seen[:whole], np.uint8).reshape(-1, features.SIDE, features.SIDE, 3)


def _words(row: Video, ends: float, pictures: Pictures, chosen: Tuning) -> list[Cue]:
    """Take captions, else what stands on a lecture's slides, else what a recogniser of speech hears."""
    if row.captions and chosen.captions:
        return captions.parse(row.captions)
    found: list[Cue] = []
    if chosen.slides and row.kind == Video.Kind.EDUCATION and len(pictures):
        found = _slides(row, ends, pictures)
    return found or _speech(row)


def _slides(row: Video, ends: float, pictures: Pictures) -> list[Cue]:
    file = storage.upload_of(row)

    def picture_at(second: float) -> slides.Picture | None:
        row.renew()  # a slide takes a while
        return ingest.frame(file, second, slides.WIDTH)

    came = slides.changes(pictures.astype(np.float32).mean(-1) / 255)
    return list(slides.cues(came, ends, picture_at))


def _speech(row: Video) -> list[Cue]:
    """Ask the recogniser that SEGMENTS_SPEECH names: a function from a file to cues; what it cannot do is not heard."""
    named = settings.SEGMENTS["SPEECH"]
    if not named or not row.file:
        return []
    try:
        hear = import_string(named.replace(":", "."))
        return [Cue(float(each.start), float(each.end), str(each.text)) for each in hear(Path(storage.upload_of(row)))]
    except Exception:  # somebody else's code: the video is described without it
        log.exception("%s could not hear the video %s", named, row.pk)
        return []
