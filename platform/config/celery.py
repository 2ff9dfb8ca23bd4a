"""The Celery application: JSON only, late acknowledgement, one message per claimed row."""

import os
import signal

from celery import Celery
from celery.signals import beat_embedded_init, worker_init

from config import environment
from config.stack import launch

os.environ.setdefault("DJANGO_SETTINGS_MODULE", "config.settings")

NICENESS = 10

DOORS = ("heartbeat", "judge", "clock", "infer", "prefetch", "train", "notices")
app = Celery("touchstone", include=[f"workers.{name}" for name in DOORS])
app.config_from_object("django.conf:settings", namespace="CELERY")
app.conf.update(
    task_serializer="json",
    accept_content=["json"],
    task_ignore_result=True,
    task_acks_late=True,
    task_reject_on_worker_lost=True,
    task_default_queue="clock",
    worker_prefetch_multiplier=1,
    worker_hijack_root_logger=False,
    broker_connection_retry_on_startup=True,
    broker_transport_options={
        "visibility_timeout": 3600,
        "socket_timeout": 5,
        "socket_connect_timeout": 2,
    },
    beat_schedule_filename=environment.text("CELERY_BEAT_SCHEDULE", "var/celerybeat-schedule"),
    beat_schedule={
        "tick": {"task": "clock.tick", "schedule": 2.0, "options": {"queue": "clock", "expires": 10}},
        "minute": {"task": "clock.minute", "schedule": 20.0, "options": {"queue": "clock", "expires": 60}},
    },
)


@worker_init.connect
def _yield_to_the_web(**_: object) -> None:
    """Let requests go first where cores are scarce: work off the path can wait a moment."""
    os.nice(NICENESS)


@beat_embedded_init.connect
def _end_with_the_worker(**_: object) -> None:
    """Let no clock tick on when its worker was killed."""
    launch.die_with(os.getppid(), signal.SIGTERM)
