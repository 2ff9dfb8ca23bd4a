"""How keys and sessions look in the API's schema."""

from typing import Any

from drf_spectacular.extensions import OpenApiAuthenticationExtension


class KeyScheme(OpenApiAuthenticationExtension):  # type: ignore[no-untyped-call]
    """A bearer key."""

    target_class = "apps.access.api.authentication.KeyAuthentication"
    name = "key"

    def get_security_definition(self, auto_schema: Any) -> dict[str, str]:
        """Describe the header."""
        return {"type": "http", "scheme": "bearer"}


class ConsoleScheme(OpenApiAuthenticationExtension):  # type: ignore[no-untyped-call]
    """The console's session."""

    target_class = "apps.access.api.authentication.ConsoleAuthentication"
    name = "session"

    def get_security_definition(self, auto_schema: Any) -> dict[str, str]:
        """Describe the cookie."""
        return {"type": "apiKey", "in": "cookie", "name": "sessionid"}
