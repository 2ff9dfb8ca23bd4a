"""Fields that take exactly what the schema says, where Django REST framework would be kinder."""

from __future__ import annotations

from typing import Any
from uuid import UUID

from rest_framework import serializers


class Words(serializers.CharField):
    """A string that must come as one: a number or a truth value is refused."""

    def to_internal_value(self, data: Any) -> str:
        """Take a string."""
        if not isinstance(data, str):
            self.fail("invalid")
        return super().to_internal_value(data)


class Key(serializers.UUIDField):
    """A UUID that must come as a string."""

    def to_internal_value(self, data: Any) -> UUID:
        """Take a UUID."""
        if not isinstance(data, str):
            self.fail("invalid", value=data)
        return super().to_internal_value(data)


class Switch(serializers.BooleanField):
    """True or false in a query string; null is neither."""

    NULL_VALUES: set[Any] = set()


class Moment(serializers.DateTimeField):
    """A time; an empty string, which forms send, means none."""

    def validate_empty_values(self, data: Any) -> tuple[bool, Any]:
        """Read an empty string as null."""
        return super().validate_empty_values(None if data == "" and self.allow_null else data)


class Day(serializers.DateField):
    """A day; an empty string, which forms send, means none."""

    def validate_empty_values(self, data: Any) -> tuple[bool, Any]:
        """Read an empty string as null."""
        return super().validate_empty_values(None if data == "" and self.allow_null else data)
