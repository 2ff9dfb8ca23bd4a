"""Celery's door: each module names a task and calls one service; `edge` is the agent beside nginx, without Celery."""
