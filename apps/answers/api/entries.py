"""Read, delete and purge the dynamic tier."""

from __future__ import annotations

from typing import Any, ClassVar
from uuid import UUID

import django_filters
from django.db.models import Q, QuerySet
from django.db.models.functions import Now
from drf_spectacular.extensions import OpenApiSerializerExtension
from drf_spectacular.utils import extend_schema, extend_schema_view
from rest_framework import mixins, serializers, viewsets
from rest_framework.decorators import action
from rest_framework.permissions import SAFE_METHODS
from rest_framework.request import Request
from rest_framework.response import Response
from rest_framework.views import APIView

from apps.access.api.authentication import HasScope, caller_of
from apps.access.api.documented import PROBLEMS
from apps.access.api.fields import Key, Words
from apps.access.api.lists import LIST_BACKENDS, CreatedFilter
from apps.access.core.callers import Caller
from apps.answers.models import Entry
from apps.answers.services import upkeep


class EntrySerializer(serializers.Serializer[Any]):
    """One entry of the dynamic tier; `client` is who wrote it, `answer` is null when it points at a golden answer."""

    id = serializers.UUIDField()
    namespace = serializers.CharField(source="namespace.name")
    question = serializers.CharField()
    answer = serializers.CharField(allow_null=True)
    origin = serializers.ChoiceField(["generated", "client", "golden"])
    client = serializers.CharField(source="by")
    golden = serializers.UUIDField(source="golden_id", allow_null=True)
    golden_version = serializers.IntegerField(allow_null=True)
    verification = serializers.UUIDField(source="verification_id", allow_null=True)
    hits = serializers.IntegerField()
    last_hit_at = serializers.DateTimeField(allow_null=True)
    created_at = serializers.DateTimeField()
    expires_at = serializers.DateTimeField()
    suspended_at = serializers.DateTimeField(allow_null=True)


class PurgeSerializer(serializers.Serializer[Any]):
    """What to purge: entries that match everything named here; at least one thing must be named."""

    ids = serializers.ListField(child=Key(), required=False, min_length=1, max_length=10_000)
    namespace = Words(required=False, max_length=63)
    golden = Key(required=False, help_text="The golden answer they point at.")
    version = serializers.IntegerField(required=False, min_value=1, max_value=2_147_483_647)
    client = Words(required=False, max_length=64, help_text="Who wrote them: a key's id, or `backend`.")
    origin = serializers.ChoiceField(Entry.Origin.choices, required=False)
    q = Words(required=False, max_length=1000, help_text="Words of the question.")
    created_after = serializers.DateTimeField(required=False, help_text="The beginning of the time range, included.")
    created_before = serializers.DateTimeField(required=False, help_text="The end of the time range, excluded.")

    def validate(self, attrs: dict[str, Any]) -> dict[str, Any]:
        """Refuse a condition that does not exist: ignoring a misspelt one would purge more than was meant."""
        if unknown := sorted(set(self.initial_data) - set(self.fields)):
            raise serializers.ValidationError(dict.fromkeys(unknown, "There is no such condition."))
        return attrs


class PurgeSchema(OpenApiSerializerExtension):  # type: ignore[no-untyped-call]
    """Says in the schema what `validate` demands: at least one condition, and none that does not exist."""

    target_class = PurgeSerializer

    def map_serializer(self, auto_schema: Any, direction: Any) -> Any:
        """Give the schema of a purge."""
        schema = auto_schema._map_serializer(self.target, direction, bypass_extensions=True)
        return {**schema, "minProperties": 1, "additionalProperties": False}


class PurgedSerializer(serializers.Serializer[Any]):
    """How many entries were purged."""

    count = serializers.IntegerField()


class EntryFilter(CreatedFilter):
    """Narrow the list."""

    namespace = django_filters.CharFilter(field_name="namespace__name", help_text="The namespace's name.")
    origin = django_filters.ChoiceFilter(choices=Entry.Origin.choices)
    golden = django_filters.UUIDFilter(field_name="golden_id", help_text="The golden answer they point at.")
    client = django_filters.CharFilter(field_name="by", help_text="Who wrote them, as in `client`.")
    q = django_filters.CharFilter(field_name="question", lookup_expr="icontains", help_text="Words of the question.")
    live = django_filters.BooleanFilter(method="alive", help_text="Whether it may be served now.")

    class Meta:
        model = Entry
        fields: tuple[str, ...] = ()

    def alive(self, rows: QuerySet[Entry], name: str, value: bool) -> QuerySet[Entry]:
        """Keep what may be served now, or what may not, by the database's clock."""
        live = Q(expires_at__gt=Now(), suspended_at=None)
        return rows.filter(live if value else ~live)


class ReadsEntries(HasScope):
    """Curators and operators may read, operators may also delete: entries hold what every client asked."""

    def has_permission(self, request: Request, view: APIView) -> bool:
        """Say whether the caller may do this."""
        reads = request.method in SAFE_METHODS and isinstance(request.user, Caller) and request.user.may("curator")
        return reads or super().has_permission(request, view)


@extend_schema_view(
    list=extend_schema(operation_id="answers_entries_list", responses={200: EntrySerializer(many=True), **PROBLEMS}),
    retrieve=extend_schema(operation_id="answers_entry_read", responses={200: EntrySerializer, **PROBLEMS}),
)
class EntryViewSet(mixins.ListModelMixin, mixins.RetrieveModelMixin, viewsets.GenericViewSet[Entry]):
    """Entries of this workspace, newest first."""

    scope = "operator"
    permission_classes = (ReadsEntries,)
    lookup_value_converter = "uuid"
    serializer_class = EntrySerializer
    filterset_class = EntryFilter
    filter_backends = LIST_BACKENDS
    ordering_fields: ClassVar = ["created_at", "expires_at"]
    queryset = Entry.objects.none()

    def get_queryset(self) -> QuerySet[Entry]:
        """Keep to the caller's workspace."""
        if getattr(self, "swagger_fake_view", False):
            return Entry.objects.none()
        return upkeep.matching(caller_of(self.request), {}).select_related("namespace").defer("vector")

    @extend_schema(operation_id="answers_entry_delete", responses={204: None, **PROBLEMS})
    def destroy(self, request: Request, pk: UUID) -> Response:
        """Delete one entry."""
        upkeep.remove(caller_of(request), pk)
        return Response(status=204)

    @extend_schema(
        operation_id="answers_entries_purge", request=PurgeSerializer, responses={200: PurgedSerializer, **PROBLEMS}
    )
    @action(detail=False, methods=["post"])
    def purge(self, request: Request) -> Response:
        """Delete every entry that matches all of a filter."""
        body = PurgeSerializer(data=request.data)
        body.is_valid(raise_exception=True)
        return Response({"count": upkeep.purge(caller_of(request), body.validated_data)})
