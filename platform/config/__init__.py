"""Wiring: settings, urls, asgi, celery and the embedded stack."""

from config import kernels

kernels.keep_apart()  # before anything imports numba

from config.celery import app as celery_app

__all__ = ["celery_app"]
