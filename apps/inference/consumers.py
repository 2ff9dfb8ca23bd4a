"""Progress of one job over WebSocket: how it stands now, then every change."""

from __future__ import annotations

import json
import time
from typing import Any
from uuid import UUID

from asgiref.sync import sync_to_async
from channels.generic.websocket import AsyncWebsocketConsumer
from django.db import close_old_connections

from apps.inference.models import Job
from apps.inference.services import progress
from apps.metrics.consumers import ASK_AGAIN_S, NOT_ALLOWED, watcher

MISSING = 4404


class JobProgress(AsyncWebsocketConsumer):
    """Forwards what the worker tells of one job."""

    group = ""
    asked_at = 0.0

    async def connect(self) -> None:
        """Admit members and keys of the job's workspace, and nobody else."""
        self.pk: UUID = self.scope["url_route"]["kwargs"]["pk"]
        allowed, told = await self._ask()
        await self.accept()  # a refusal before this reaches browsers as a failure without a reason
        if told is None:
            await self.close(MISSING if allowed else NOT_ALLOWED)
            return
        self.group = progress.group(self.pk)
        await self.channel_layer.group_add(self.group, self.channel_name)
        _, told = await self._ask()  # once more: something may have happened before we listened
        await self.send(text_data=json.dumps(told))

    async def disconnect(self, code: int) -> None:
        """Leave the group."""
        if self.group:
            await self.channel_layer.group_discard(self.group, self.channel_name)

    async def job_progress(self, event: dict[str, Any]) -> None:
        """Forward how the job stands, to those who may still see it."""
        if time.monotonic() - self.asked_at > ASK_AGAIN_S and (await self._ask())[1] is None:
            await self.close(NOT_ALLOWED)
            return
        await self.send(text_data=json.dumps(event["told"]))

    async def _ask(self) -> tuple[bool, dict[str, Any] | None]:
        self.asked_at = time.monotonic()
        return await sync_to_async(_told, thread_sensitive=False)(self.scope, self.pk)


def _told(scope: dict[str, Any], pk: UUID) -> tuple[bool, dict[str, Any] | None]:
    """Say whether somebody watches, and how the job of their workspace stands."""
    try:
        caller = watcher(scope)
        if caller is None:
            return False, None
        row = Job.objects.filter(pk=pk, workspace_id=caller.workspace_id).first()
        return True, row.told() if row else None
    finally:
        close_old_connections()
