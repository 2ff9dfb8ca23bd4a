"""Live metrics over WebSocket: one publisher per process sends each workspace's snapshot once a second."""

from __future__ import annotations

import asyncio
import json
import logging
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
NOT_ALLOWED = 4401


class Publisher:
    """Computes a workspace's snapshot once a second while anybody in this process watches it."""

    def __init__(self) -> None:
        self.watchers: dict[UUID, int] = {}
        self.tasks: dict[UUID, asyncio.Task[None]] = {}

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
            try:
                text = await sync_to_async(written, thread_sensitive=False)(workspace_id)
                await layer.group_send(group(workspace_id), {"type": "metrics.snapshot", "text": text})
            except Exception:  # the next second tries again; browsers see that they are stale
                log.exception("a snapshot could not be published")
            await asyncio.sleep(EVERY_S)


publisher = Publisher()


def group(workspace_id: UUID) -> str:
    """Name the group of a workspace's watchers."""
    return f"metrics.{workspace_id}"


def written(workspace_id: UUID) -> str:
    """Write a workspace's snapshot once for all its watchers."""
    try:
        return json.dumps(services.snapshot(workspace_id), separators=(",", ":"))
    finally:
        close_old_connections()


def watcher(scope: dict[str, Any]) -> Caller | None:
    """Find who watches: `?key=`, else the session's user in the chosen workspace."""
    query = parse_qs(scope["query_string"].decode())
    if "key" in query:
        return access.recognise(query["key"][0])
    user = scope.get("user")
    if not isinstance(user, User) or not user.is_active:
        return None
    open_to_user = access.workspaces_of(user)
    wanted = (query.get("workspace") or [scope["session"].get("workspace")])[0]
    workspace = next((row for row in open_to_user if row.slug == wanted), open_to_user[0] if open_to_user else None)
    return access.caller_for_user(user, workspace) if workspace else None


class LiveMetrics(AsyncWebsocketConsumer):
    """Forwards snapshots of one workspace."""

    workspace_id: UUID | None = None

    async def connect(self) -> None:
        """Admit members and keys of a workspace, and nobody else."""
        caller = await sync_to_async(watcher)(self.scope)
        if caller is None:
            await self.close(NOT_ALLOWED)
            return
        self.workspace_id = caller.workspace_id
        await self.channel_layer.group_add(group(caller.workspace_id), self.channel_name)
        await self.accept()
        publisher.join(caller.workspace_id)

    async def disconnect(self, code: int) -> None:
        """Leave the group."""
        if self.workspace_id is not None:
            publisher.leave(self.workspace_id)
            await self.channel_layer.group_discard(group(self.workspace_id), self.channel_name)

    async def metrics_snapshot(self, event: dict[str, Any]) -> None:
        """Forward a snapshot as it is."""
        await self.send(text_data=event["text"])
