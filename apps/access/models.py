"""Rows of access: users, workspaces, memberships, API keys, the audit log and remembered idempotent replies."""

from __future__ import annotations

from typing import ClassVar

from django.contrib.auth.models import AbstractUser
from django.contrib.postgres.fields import ArrayField
from django.core.validators import MinValueValidator
from django.db import models
from django.db.models.functions import Now
from django.utils.translation import gettext_lazy as _


class Uuid7(models.Func):
    """A version 7 UUID (RFC 9562) made by PostgreSQL: sorts by time, tells nothing about how many rows others have.

    The first six bytes of a random UUID become the Unix time in milliseconds and two bits make its version 7;
    PostgreSQL has a function for this only from version 18 on.
    """

    template = (
        "encode(set_bit(set_bit(overlay(uuid_send(gen_random_uuid()) placing substring(int8send("
        "floor(extract(epoch from clock_timestamp()) * 1000)::bigint) from 3) from 1 for 6), 52, 1), 53, 1), "
        "'hex')::uuid"
    )
    arity = 0
    output_field = models.UUIDField()


class Row(models.Model):
    """What every row has: an opaque identity and the database's own time of birth."""

    id = models.UUIDField(primary_key=True, db_default=Uuid7(), editable=False)
    created_at = models.DateTimeField(db_default=Now(), editable=False)

    class Meta:
        abstract = True


class User(AbstractUser):
    """A person who signs in to the console."""


class Workspace(Row):
    """A tenant: nothing crosses from one workspace to another."""

    slug = models.SlugField(unique=True)
    name = models.CharField(max_length=120)
    prices = models.JSONField(default=dict, blank=True, help_text=_("What a saved call, token or gigabyte is worth."))

    def __str__(self) -> str:
        return self.name


class Membership(Row):
    """A person's role in a workspace."""

    class Role(models.TextChoices):
        """What a member may do; an owner may do everything."""

        VIEWER = "viewer", _("Viewer")
        CURATOR = "curator", _("Curator")
        OPERATOR = "operator", _("Operator")
        OWNER = "owner", _("Owner")

    user = models.ForeignKey(User, models.CASCADE, related_name="memberships")
    workspace = models.ForeignKey(Workspace, models.CASCADE, related_name="memberships")
    role = models.CharField(max_length=12, choices=Role, default=Role.VIEWER)

    class Meta:
        constraints: ClassVar = [models.UniqueConstraint(fields=["user", "workspace"], name="one_role_per_workspace")]

    def __str__(self) -> str:
        return f"{self.user} · {self.workspace} · {self.get_role_display()}"


class ApiKeys(models.QuerySet["ApiKey"]):
    """Reads of API keys."""

    def usable(self) -> ApiKeys:
        """Keep keys that are neither revoked nor expired, by the database's clock."""
        return self.filter(revoked_at=None).exclude(expires_at__lte=Now())


class ApiKey(Row):
    """A hashed secret with scopes, an expiry and a rate limit."""

    workspace = models.ForeignKey(Workspace, models.CASCADE, related_name="api_keys")
    name = models.CharField(max_length=120)
    prefix = models.CharField(max_length=12, editable=False, help_text=_("The first letters, to recognise it by."))
    digest = models.BinaryField(max_length=32, unique=True, editable=False)
    scopes = ArrayField(models.CharField(max_length=12), default=list)
    rate_per_minute = models.PositiveIntegerField(
        default=0, validators=[MinValueValidator(0)], help_text=_("Requests a minute; 0 means no limit.")
    )
    expires_at = models.DateTimeField(null=True, blank=True)
    revoked_at = models.DateTimeField(null=True, blank=True, editable=False)
    last_used_at = models.DateTimeField(null=True, blank=True, editable=False)
    created_by = models.ForeignKey(User, models.SET_NULL, null=True, blank=True, editable=False)

    objects = ApiKeys.as_manager()

    def __str__(self) -> str:
        return f"{self.name} ({self.prefix}…)"


class SavedView(Row):
    """A list of the console as a person likes to see it: its filters, search and order under a name."""

    user = models.ForeignKey(User, models.CASCADE, related_name="views")
    workspace = models.ForeignKey(Workspace, models.CASCADE)
    path = models.CharField(max_length=200)
    query = models.CharField(max_length=1_000)
    name = models.CharField(max_length=60)

    class Meta:
        constraints: ClassVar = [
            models.UniqueConstraint(fields=["user", "workspace", "path", "name"], name="one_view_per_name")
        ]

    def __str__(self) -> str:
        return self.name


class AuditEvent(Row):
    """One act of a curator, an operator or a key, kept for good."""

    workspace = models.ForeignKey(Workspace, models.CASCADE, related_name="audit_events")
    user = models.ForeignKey(User, models.SET_NULL, null=True, blank=True)
    key = models.ForeignKey(ApiKey, models.SET_NULL, null=True, blank=True)
    verb = models.CharField(max_length=60)
    target = models.CharField(max_length=60)
    target_id = models.CharField(max_length=64)
    detail = models.JSONField(default=dict)

    class Meta:
        indexes: ClassVar = [models.Index(fields=["workspace", "-id"], name="audit_newest_first")]

    def __str__(self) -> str:
        return f"{self.verb} {self.target} {self.target_id}"


class RememberedReply(Row):
    """The first reply to an Idempotency-Key, given again to whoever repeats the request."""

    workspace = models.ForeignKey(Workspace, models.CASCADE)
    key = models.CharField(max_length=255)
    path = models.CharField(max_length=255)
    request_digest = models.BinaryField(max_length=32)
    status = models.PositiveSmallIntegerField(null=True)
    body = models.JSONField(null=True)

    class Meta:
        constraints: ClassVar = [
            models.UniqueConstraint(fields=["workspace", "path", "key"], name="one_reply_per_idempotency_key")
        ]

    def __str__(self) -> str:
        return self.key
