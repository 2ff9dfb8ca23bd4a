"""The judge's door: verify one near miss, replay one candidate policy."""

import time

from celery import shared_task

from apps.answers import services
from apps.answers.models import Replay, Verification
from apps.metrics import services as metrics


@shared_task(name="judge.verify", acks_late=True)
def verify(pk: str) -> bool:
    """Judge the verification with this key; then rest, for as long as people who ask have need of the cores."""
    before = time.process_time()
    done = Verification.perform(pk, services.verify)
    time.sleep(metrics.rest_s(time.process_time() - before))
    return done


@shared_task(name="judge.replay", acks_late=True)
def replay(pk: str) -> bool:
    """Run the replay with this key."""
    return Replay.perform(pk, services.perform_replay)
