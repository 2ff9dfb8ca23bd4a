"""An abstract row of background work; the message that starts it carries only its key."""

from __future__ import annotations

import logging
import os
import socket
from collections.abc import Callable
from datetime import timedelta
from typing import Any, ClassVar, Self
from uuid import UUID

from django.db import models, transaction
from django.db.models.functions import Now
from django.utils.translation import gettext_lazy as _

from apps.access.models import Row
from apps.work import services

log = logging.getLogger(__name__)


class Work(Row):
    """One piece of background work: submit, perform, resend what was lost, recover what a dead worker held."""

    class Status(models.TextChoices):
        """Where the work stands; `waiting` is not yet to be sent."""

        WAITING = "waiting", _("Waiting")
        QUEUED = "queued", _("Queued")
        RUNNING = "running", _("Running")
        DONE = "done", _("Done")
        FAILED = "failed", _("Failed")
        CANCELLED = "cancelled", _("Cancelled")
        DROPPED = "dropped", _("Dropped")

    task: ClassVar[str]
    queue: ClassVar[str]
    lease: ClassVar[timedelta] = timedelta(minutes=2)
    patience: ClassVar[timedelta] = timedelta(seconds=10)
    max_attempts: ClassVar[int] = 3

    status = models.CharField(max_length=10, choices=Status, default=Status.QUEUED, editable=False)
    attempts = models.PositiveSmallIntegerField(default=0, editable=False)
    worker = models.CharField(max_length=120, blank=True, editable=False)
    sent_at = models.DateTimeField(db_default=Now(), editable=False)
    claimed_at = models.DateTimeField(null=True, editable=False)
    leased_until = models.DateTimeField(null=True, editable=False)
    finished_at = models.DateTimeField(null=True, editable=False)
    error = models.TextField(blank=True, editable=False)

    class Meta:
        abstract = True

    def send(self) -> None:
        """Post the message that starts this work, once the surrounding transaction is durable."""
        task, queue, key = self.task, self.queue, str(self.pk)
        transaction.on_commit(lambda: services.send(task, queue, key))

    @classmethod
    def submit(cls, **fields: Any) -> Self:
        """Create the row now and send its message after commit."""
        row = cls._default_manager.create(**fields)
        row.send()
        return row

    @classmethod
    def claim(cls, pk: UUID | str) -> Self | None:
        """Take a queued row for this worker; None when another worker has it or it is no longer wanted."""
        taken = cls._default_manager.filter(pk=pk, status=cls.Status.QUEUED).update(
            status=cls.Status.RUNNING,
            attempts=models.F("attempts") + 1,
            worker=f"{socket.gethostname()}:{os.getpid()}",
            claimed_at=Now(),
            leased_until=Now() + cls.lease,
        )
        return cls._default_manager.get(pk=pk) if taken else None

    @classmethod
    def perform(cls, pk: UUID | str, verb: Callable[[Self], None]) -> bool:
        """Claim a row, do the verb and close the row; a failing verb fails the row, never the worker."""
        row = cls.claim(pk)
        if row is None:
            return False
        try:
            verb(row)
        except Exception as problem:
            log.exception("%s %s failed", cls.__name__, pk)
            row._close(cls.Status.FAILED, f"{type(problem).__name__}: {problem}")
            return False
        row._close(cls.Status.DONE, "")
        return True

    def _close(self, status: str, error: str) -> None:
        """Finish the row unless the verb, or somebody meanwhile, gave it another end."""
        held = type(self)._default_manager.filter(pk=self.pk, claimed_at=self.claimed_at)
        held.filter(status=self.Status.RUNNING).update(
            status=status, error=error[:2000], finished_at=Now(), leased_until=None
        )

    def renew(self) -> bool:
        """Extend the lease of long work; False when the row was taken away (cancelled or recovered)."""
        rows = type(self)._default_manager.filter(pk=self.pk, status=self.Status.RUNNING, claimed_at=self.claimed_at)
        return bool(rows.update(leased_until=Now() + self.lease))

    @classmethod
    def resend(cls, limit: int = 200) -> int:
        """Send again what has been queued for longer than `patience` though the queue is short: its message is lost."""
        if services.depth(cls.queue) >= limit:
            return 0
        late = cls._default_manager.filter(status=cls.Status.QUEUED, sent_at__lt=Now() - cls.patience)
        keys = list(late.order_by("sent_at").values_list("pk", flat=True)[:limit])
        cls._default_manager.filter(pk__in=keys).update(sent_at=Now())
        for key in keys:
            services.send(cls.task, cls.queue, str(key))
        return len(keys)

    @classmethod
    def recover(cls) -> int:
        """Free what a killed worker held; give up on what has been tried `max_attempts` times."""
        held = cls._default_manager.filter(status=cls.Status.RUNNING, leased_until__lt=Now())
        held.filter(attempts__gte=cls.max_attempts).update(
            status=cls.Status.FAILED, error="Gave up: the worker was lost each time.", finished_at=Now()
        )
        return held.update(status=cls.Status.QUEUED, sent_at=Now() - 2 * cls.patience)
