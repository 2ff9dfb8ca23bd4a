"""Registration of the work app."""

from django.apps import AppConfig


class WorkConfig(AppConfig):
    """Background work is a row."""

    name = "apps.work"
    label = "work"
    verbose_name = "Work"
