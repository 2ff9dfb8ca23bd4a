"""Registration of the metrics app."""

from django.apps import AppConfig


class MetricsConfig(AppConfig):
    """What the caches did."""

    name = "apps.metrics"
    label = "metrics"
    verbose_name = "Metrics"
