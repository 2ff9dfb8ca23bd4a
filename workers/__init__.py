"""Celery's door: each module names one task and calls one service."""
