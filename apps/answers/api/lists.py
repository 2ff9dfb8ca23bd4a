"""What lists of this API share: ordering that a cursor can follow, and filters that refuse what they cannot read."""

from __future__ import annotations

import django_filters
from django_filters.rest_framework import DjangoFilterBackend
from rest_framework.filters import OrderingFilter

LIST_BACKENDS = (DjangoFilterBackend, OrderingFilter)


class CreatedFilter(django_filters.FilterSet):
    """A half-open range of creation: `created_after` <= created_at < `created_before`."""

    created_after = django_filters.IsoDateTimeFilter(field_name="created_at", lookup_expr="gte")
    created_before = django_filters.IsoDateTimeFilter(field_name="created_at", lookup_expr="lt")
