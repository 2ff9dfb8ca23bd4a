"""Describe every segment of a video: how it looks, and what is said, from the best source of words there is."""

from __future__ import annotations

import logging
from pathlib import Path

import numpy as np
import numpy.typing as npt
from django.conf import settings
from django.db import transaction
from django.utils.module_loading import import_string

from apps.segments.core import captions, features, ingest, outline, scene, slides
from apps.segments.core.captions import Cue
from apps.segments.core.catalogue import Bools
from apps.segments.models import Moment, Segment, Tuning, Video
from apps.segments.services import scenes, storage, tuning

log = logging.getLogger(__name__)
Pictures = npt.NDArray[np.uint8]
NONE: Pictures = np.zeros((0, features.SIDE, features.SIDE, 3), np.uint8)


def describe(row: Video) -> None:
    """Describe a video afresh; one that cannot be seen here is described by its words."""
    chosen = tuning.of(row.workspace_id)
    first = list(Segment.objects.filter(video=row, rendition=0).order_by("index"))
    starts, ends = [each.start_s for each in first], [each.start_s + each.duration_s for each in first]
    pictures, cut = _seen(row, ends[-1], chosen)
    cues = _words(row, ends[-1], cut, chosen)
    points = outline.read(row.outline)
    rows = []
    seen = (pictures, cut) if chosen.pictures else (NONE, cut[:0])
    for each, told in zip(first, features.describe(*seen, cues, starts, ends, row.kind), strict=True):
        point = outline.at(points, each.start_s)
        rows.append(Moment(video=row, index=each.index, text=told.text,
                           vector=None if told.vector is None else told.vector.tolist(), density=told.density,
                           continuity=told.continuity, cuts=told.cuts, point=point.title if point else ""))  # fmt: skip
    with transaction.atomic():
        Moment.objects.filter(video=row).delete()
        Moment.objects.bulk_create(rows, batch_size=1_000)


def _seen(row: Video, ends: float, chosen: Tuning) -> tuple[Pictures, Bools]:
    """Decode one small picture a second and say where shots or slides begin; nothing where nobody wants to look."""
    if not row.file or not settings.SEGMENTS["LOOK"] or not (chosen.pictures or chosen.slides):
        return NONE, np.zeros(0, np.bool_)
    model = scenes.serving(row.workspace_id)
    side = features.SIDE if model is None else scene.SIDE
    told = ingest.thumbnails(storage.upload_of(row), ends, side=side)
    whole = len(told) // (side**2 * 3) * side**2 * 3
    pictures = np.frombuffer(told[:whole], np.uint8).reshape(-1, side, side, 3)
    if model is None:
        profile = "slides" if row.kind == Video.Kind.EDUCATION else "film"
        return pictures, features.cuts(features.brightness(pictures), profile)
    step = side // features.SIDE
    small = pictures.reshape(-1, features.SIDE, step, features.SIDE, step, 3).mean((2, 4)).astype(np.uint8)
    return small, model.cuts(pictures)


def _words(row: Video, ends: float, cut: Bools, chosen: Tuning) -> list[Cue]:
    """Take captions, else what stands on a lecture's slides, else what a recogniser of speech hears."""
    if row.captions and chosen.captions:
        return captions.parse(row.captions)
    found: list[Cue] = []
    if chosen.slides and row.kind == Video.Kind.EDUCATION and len(cut):
        found = _slides(row, ends, slides.changes(cut))
    return found or _speech(row)


def _slides(row: Video, ends: float, came: list[float]) -> list[Cue]:
    file = storage.upload_of(row)

    def picture_at(second: float) -> slides.Picture | None:
        row.renew()  # a slide takes a while
        return ingest.frame(file, second, slides.WIDTH)

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
