"""Who is calling, as a value that services can trust."""

from dataclasses import dataclass, field
from uuid import UUID

SCOPES = ("client", "curator", "operator")
ROLE_SCOPES = {
    "viewer": frozenset[str](),
    "client": frozenset({"client"}),
    "curator": frozenset({"client", "curator"}),
    "operator": frozenset({"client", "operator"}),
    "owner": frozenset(SCOPES),
}


@dataclass(frozen=True, slots=True)
class Caller:
    """One authenticated caller inside one workspace: a key, or a person in the console."""

    workspace_id: UUID
    scopes: frozenset[str] = field(default_factory=frozenset)
    key_id: UUID | None = None
    user_id: int | None = None
    rate_per_minute: int = 0

    is_authenticated = True  # what Django REST framework asks of a user

    def may(self, scope: str) -> bool:
        """Say whether the caller holds a scope; every curator and operator is also a client."""
        return scope in self.scopes or (scope == "client" and bool(self.scopes))

    @property
    def name(self) -> str:
        """Name the caller in logs and rows: `key:<id>` or `user:<id>`."""
        return f"key:{self.key_id}" if self.key_id else f"user:{self.user_id}"

    @property
    def pk(self) -> str:
        """Name the caller for Django REST framework."""
        return self.name
