"""Live metrics over WebSocket: one publisher per process sends each workspace's snapshot once a second."""

from __future__ import annotations

import asyncio
import json
import logging
import time
import uuid
from typing import Any
from urllib.parse import parse_qs
from uuid import UUID

from asgiref.sync import sync_to_async
from channels.generic.websocket import AsyncWebsocketConsumer
from channels.layers import get_channel_layer
from django.db import close_old_connections

from apps.access import services as access
from apps.access.core.callers import Caller
from apps.access.models import User
from apps.metrics import services

log = logging.getLogger(__name__)
EVERY_S = 1.0
ASK_AGAIN_S = 30.0  # how long a revoked key or a lost membership may still watch
NOT_ALLOWED = 4401


class Publisher:
    """Computes a workspace's snapshot once a second while anybody in this process watches it."""

    def __init__(self) -> None:
        self.name = uuid.uuid4().hex  # groups are this process's own: another one's publisher must not reach them
        self.watchers: dict[UUID, int] = {}
        self.tasks: dict[UUID, asyncio.Task[None]] = {}

    def group(self, workspace_id: UUID) -> str:
        """Name the group of a workspace's watchers in this process."""
        return f"metrics.{self.name}.{workspace_id.hex}"

    def join(self, workspace_id: UUID) -> None:
        """Count a watcher; the first one starts the publishing."""
        self.watchers[workspace_id] = self.watchers.get(workspace_id, 0) + 1
        task = self.tasks.get(workspace_id)
        if task is None or task.done():
            self.tasks[workspace_id] = asyncio.get_running_loop().create_task(self._publish(workspace_id))

    def leave(self, workspace_id: UUID) -> None:
        """Count a watcher out; the last one stops the publishing."""
        self.watchers[workspace_id] -= 1
        if self.watchers[workspace_id] <= 0:
            self.watchers.pop(workspace_id)
            self.tasks.pop(workspace_id).cancel()

    async def _publish(self, workspace_id: UUID) -> None:
        layer = get_channel_layer()
        while True:
            began = time.monotonic()
            try:
                text = await sync_to_async(written, thread_sensitive=False)(workspace_id)
                await layer.group_send(self.group(workspace_id), {"type": "metrics.snapshot", "text": text})
            except Exception:  # the next second tries again; browsers see that they are stale
                log.exception("a snapshot could not be published")
            await asyncio.sleep(max(0.1, EVERY_S - (time.monotonic() - began)))


publisher = Publisher()


def written(workspace_id: UUID) -> str:
    """Write a workspace's snapshot once for all its watchers."""
    try:
        return json.dumps(services.snapshot(workspace_id), separators=(",", ":"))
    finally:
        close_old_connections()


def watcher(scope: dict[str, Any]) -> Caller | None:
    """Find who watches: `?key=`, else the session's user in the chosen workspace."""
    query = parse_qs(scope["query_string"].decode("latin-1"))
    if "key" in query:
        return access.recognise(query["key"][0])
    user, session = scope.get("user"), scope.get("session")
    if not isinstance(user, User) or not session or not session.exists(session.session_key):
        return None
    person = User.objects.filter(pk=user.pk, is_active=True).first()
    slug = (query.get("workspace") or [""])[0]
    return _in_workspace(person, slug, session.get("workspace")) if person else None


def _in_workspace(person: User, slug: str, chosen: str | None) -> Caller | None:
    """Give the person's caller in the workspace asked for; unasked, in the one chosen before or the first."""
    mine = {row.slug: row for row in access.workspaces_of(person)}
    workspace = mine.get(slug) if slug else mine.get(chosen or "", next(iter(mine.values()), None))
    return access.caller_for_user(person, workspace) if workspace else None


class LiveMetrics(AsyncWebsocketConsumer):
    """Forwards snapshots of one workspace."""

    workspace_id: UUID | None = None
    asked_at = 0.0

    async def connect(self) -> None:
        """Admit members and keys of a workspace, and nobody else."""
        caller = await self._caller()
        await self.accept()  # a refusal before this reaches browsers as a failure without a reason
        if caller is None:
            await self.close(NOT_ALLOWED)
            return
        self.workspace_id = caller.workspace_id
        await self.channel_layer.group_add(publisher.group(caller.workspace_id), self.channel_name)
        publisher.join(caller.workspace_id)

    async def disconnect(self, code: int) -> None:
        """Leave the group."""
        if self.workspace_id is not None:
            workspace_id, self.workspace_id = self.workspace_id, None
            publisher.leave(workspace_id)
            await self.channel_layer.group_discard(publisher.group(workspace_id), self.channel_name)

    async def metrics_snapshot(self, event: dict[str, Any]) -> None:
        """Forward a snapshot as it is, to those who may still see it."""
        if time.monotonic() - self.asked_at > ASK_AGAIN_S:
            caller = await self._caller()
            if caller is None or caller.workspace_id != self.workspace_id:
                await self.close(NOT_ALLOWED)
                return
        await self.send(text_data=event["text"])

    async def _caller(self) -> Caller | None:
        self.asked_at = time.monotonic()
        return await sync_to_async(_asked, thread_sensitive=False)(self.scope)


def _asked(scope: dict[str, Any]) -> Caller | None:
    try:
        return watcher(scope)
    finally:
        close_old_connections()
