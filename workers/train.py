"""The door of prediction: train predictors."""

from celery import shared_task

from apps.segments.models import Training
from apps.segments.services import training


@shared_task(name="segments.train", acks_late=True)
def train(pk: str) -> bool:
    """Do the training with this key."""
    return Training.perform(pk, training.perform)
