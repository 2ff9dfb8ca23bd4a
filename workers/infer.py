"""The door of inference: run one job over a video, prepare one network, answer the pictures of streams."""

from typing import Any

from celery import shared_task
from celery.signals import worker_ready

from apps.inference.models import Job, Network
from apps.inference.services import clockwork, jobs, preparing, running, serving


@shared_task(name="infer.run", acks_late=True)
def run(pk: str) -> bool:
    """Run the job with this key."""
    return Job.perform(pk, running.perform)


@shared_task(name="infer.prepare", acks_late=True)
def prepare(pk: str) -> bool:
    """Prepare the network with this key, and send the jobs that waited for it."""
    done = Network.perform(pk, preparing.prepare)
    jobs.release()
    return done


@worker_ready.connect
def begin(sender: Any, **kwargs: Any) -> None:
    """Take over what a killed worker of this machine held, and begin to answer streams."""
    if Job.queue in sender.app.amqp.queues.consume_from:
        clockwork.take_over()
        serving.start()
