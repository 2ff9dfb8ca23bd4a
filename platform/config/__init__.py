"""Wiring: settings, urls, asgi, celery and the embedded stack."""
