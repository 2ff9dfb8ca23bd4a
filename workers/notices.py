"""The door of notices: tell one hook of one alarm or review."""

from celery import shared_task

from apps.metrics import services
from apps.metrics.models import Notice


@shared_task(name="notices.send", acks_late=True)
def send(pk: str) -> bool:
    """Send the notice with this key."""
    return Notice.perform(pk, services.perform)
