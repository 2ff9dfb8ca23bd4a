"""The door of segments: ingest one video."""

from celery import shared_task

from apps.segments.models import Video
from apps.segments.services import videos


@shared_task(name="segments.ingest", acks_late=True)
def ingest(pk: str) -> bool:
    """Cut and describe the video with this key."""
    return Video.perform(pk, videos.perform)
