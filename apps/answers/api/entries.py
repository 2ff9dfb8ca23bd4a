"""Read, delete and purge the dynamic tier."""

from __future__ import annotations

from typing import Any

from rest_framework import serializers


class EntrySerializer(serializers.Serializer[Any]):
    """One entry of the dynamic tier."""

    id = serializers.UUIDField()
    namespace = serializers.CharField(source="namespace.name")
    question = serializers.CharField()
    answer = serializers.CharField(allow_null=True)
    origin = serializers.ChoiceField(["generated", "client", "golden"])
    golden = serializers.UUIDField(source="golden_id", allow_null=True)
    golden_version = serializers.IntegerField(allow_null=True)
    verification = serializers.UUIDField(source="verification_id", allow_null=True)
    hits = serializers.IntegerField()
    last_hit_at = serializers.DateTimeField(allow_null=True)
    created_at = serializers.DateTimeField()
    expires_at = serializers.DateTimeField()
    suspended_at = serializers.DateTimeField(allow_null=True)
