"""Registration of the access app."""

from django.apps import AppConfig


class AccessConfig(AppConfig):
    """Who may do what."""

    name = "apps.access"
    label = "access"
    verbose_name = "Access"

    def ready(self) -> None:
        """Describe authentication in the API's schema."""
        from apps.access.api import schema

        assert schema.KeyScheme.name
