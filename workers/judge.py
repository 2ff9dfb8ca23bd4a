"""The judge's door: verify one near miss, replay one candidate policy."""

from celery import shared_task

from apps.answers import services
from apps.answers.models import Verification


@shared_task(name="judge.verify", acks_late=True)
def verify(pk: str) -> bool:
    """Judge the verification with this key."""
    return Verification.perform(pk, services.verify)
