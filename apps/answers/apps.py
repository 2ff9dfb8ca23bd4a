"""Registration of the answers app."""

from django.apps import AppConfig


class AnswersConfig(AppConfig):
    """The two-tier semantic cache for answers."""

    name = "apps.answers"
    label = "answers"
    verbose_name = "Answers"

    def ready(self) -> None:
        """Tell the dashboard and the readiness page what only this cache can tell."""
        from apps.answers.services import reporting

        reporting.register()
