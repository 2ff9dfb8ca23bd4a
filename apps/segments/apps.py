"""Registration of the segments app."""

from django.apps import AppConfig


class SegmentsConfig(AppConfig):
    """The predictive cache for video segments."""

    name = "apps.segments"
    label = "segments"
    verbose_name = "Segments"

    def ready(self) -> None:
        """Tell the dashboard what only this cache can tell."""
        from apps.segments.services import reporting

        reporting.register()
