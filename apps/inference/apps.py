"""Registration of the inference app."""

from django.apps import AppConfig


class InferenceConfig(AppConfig):
    """The reuse of feature maps in CNN inference on video."""

    name = "apps.inference"
    label = "inference"
    verbose_name = "Inference"

    def ready(self) -> None:
        """Tell the dashboard what only this cache can tell."""
        from apps.inference.services import reporting

        reporting.register()
