"""The clock's door: what must happen every few seconds and every minute."""

import time

from celery import shared_task

from apps.answers import services as answers
from apps.inference import services as inference
from apps.metrics import services as metrics
from apps.segments import services as segments

SETTLING_S = 60.0  # what started with this process has said a word by then
STARTED = time.monotonic()


@shared_task(name="clock.tick", acks_late=True)
def tick() -> None:
    """Send lost messages again, free what dead workers held, wake what has waited long enough."""
    answers.tick()
    inference.tick()
    segments.tick()
    metrics.wake()
    metrics.heartbeat("clock")


@shared_task(name="clock.minute", acks_late=True)
def minute() -> None:
    """Fold counts into rows and keep the tiers in shape."""
    metrics.fold()
    answers.minute()
    inference.minute()
    segments.minute()
    if time.monotonic() - STARTED > SETTLING_S:
        metrics.watch()
