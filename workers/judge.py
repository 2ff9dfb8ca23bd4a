"""The judge's door: verify one near miss, replay one candidate policy."""

from celery import shared_task

from apps.answers import services
from apps.answers.models import Replay, Verification


@shared_task(name="judge.verify", acks_late=True)
def verify(pk: str) -> bool:
    """Judge the verification with this key."""
    return Verification.perform(pk, services.verify)


@shared_task(name="judge.replay", acks_late=True)
def replay(pk: str) -> bool:
    """Run the replay with this key."""
    return Replay.perform(pk, services.perform_replay)
