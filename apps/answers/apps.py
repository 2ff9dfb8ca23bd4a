"""Registration of the answers app."""

from django.apps import AppConfig


class AnswersConfig(AppConfig):
    """The two-tier semantic cache for answers."""

    name = "apps.answers"
    label = "answers"
    verbose_name = "Answers"
