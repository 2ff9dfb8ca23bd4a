"""What lists of this API share: ordering that a cursor can follow, and filters that refuse what they cannot read."""

from __future__ import annotations

from datetime import UTC, datetime
from typing import Any

import django_filters
from django.db.models import QuerySet
from django_filters.rest_framework import DjangoFilterBackend
from rest_framework import serializers
from rest_framework.filters import OrderingFilter
from rest_framework.request import Request
from rest_framework.views import APIView

PARAMETERS = ("page_size", "cursor", "ordering", "format")  # every list takes these


class StrictFilters(DjangoFilterBackend):
    """Filters that refuse what they do not know, and an empty value where words are not meant."""

    def filter_queryset(self, request: Request, queryset: QuerySet[Any], view: APIView) -> QuerySet[Any]:
        """Narrow a list."""
        filterset = self.get_filterset(request, queryset, view)
        known = {*PARAMETERS, *(filterset.filters if filterset else ())}
        if unknown := [name for name in request.query_params if name not in known]:
            raise serializers.ValidationError(dict.fromkeys(unknown, "There is no such parameter."))
        for name, item in filterset.filters.items() if filterset else ():
            if request.query_params.get(name) == "" and not isinstance(item, django_filters.CharFilter):
                raise serializers.ValidationError({name: "This value is empty."})
        narrowed: QuerySet[Any] = super().filter_queryset(request, queryset, view)
        return narrowed


class StrictOrdering(OrderingFilter):
    """An ordering that refuses fields it does not know."""

    def remove_invalid_fields(self, queryset: Any, fields: Any, view: Any, request: Request) -> Any:
        """Give the fields to order by."""
        valid = super().remove_invalid_fields(queryset, fields, view, request)
        if unknown := [name for name in fields if name not in valid]:
            raise serializers.ValidationError({self.ordering_param: f"Lists cannot be ordered by {unknown[0][:80]!r}."})
        return valid


class MomentFilter(django_filters.IsoDateTimeFilter):
    """A time in ISO 8601; put into UTC, since PostgreSQL does not read every zone that Python does."""

    def filter(self, qs: QuerySet[Any], value: datetime | None) -> QuerySet[Any]:
        """Compare with a time."""
        if value is not None:
            try:
                value = value.astimezone(UTC)
            except OverflowError as problem:
                raise serializers.ValidationError({self.field_name: "This time is out of range."}) from problem
        narrowed: QuerySet[Any] = super().filter(qs, value)
        return narrowed


class CreatedFilter(django_filters.FilterSet):
    """A half-open range of creation: `created_after` <= created_at < `created_before`."""

    created_after = MomentFilter(field_name="created_at", lookup_expr="gte")
    created_before = MomentFilter(field_name="created_at", lookup_expr="lt")


LIST_BACKENDS = (StrictFilters, StrictOrdering)
