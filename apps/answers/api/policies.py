"""Read and change the policy of a namespace."""

from __future__ import annotations

from typing import Any

from drf_spectacular.utils import extend_schema
from rest_framework import serializers
from rest_framework.request import Request
from rest_framework.response import Response
from rest_framework.views import APIView

from apps.access import services as access
from apps.access.api.authentication import caller_of
from apps.access.api.documented import PROBLEMS
from apps.answers.core.policy import Policy
from apps.answers.models import Namespace
from apps.answers.services import policies

TOLD = ("judge", "promotion_paused")  # of the namespace, read only: sent back unchanged they are overlooked


class PolicySerializer(serializers.Serializer[Any]):
    """A policy; similarities are cosines from 0 to 1, times are seconds."""

    tau_static = serializers.FloatField(min_value=0, max_value=1, required=False)
    tau_dynamic = serializers.FloatField(min_value=0, max_value=1, required=False)
    sigma_min = serializers.FloatField(min_value=0, max_value=1, required=False)
    entry_ttl_s = serializers.IntegerField(min_value=1, required=False)
    max_entries = serializers.IntegerField(min_value=1, required=False)
    judge_after = serializers.IntegerField(min_value=1, required=False)
    verifications_per_minute = serializers.IntegerField(min_value=0, required=False)
    verifications_per_day = serializers.IntegerField(min_value=0, required=False)
    max_queue_age_s = serializers.IntegerField(min_value=1, required=False)
    verdict_ttl_s = serializers.IntegerField(min_value=1, required=False)
    error_budget = serializers.FloatField(min_value=0.0001, max_value=1, required=False)
    margin_direct = serializers.FloatField(min_value=0, max_value=1, required=False)
    margin_promoted = serializers.FloatField(min_value=0, max_value=1, required=False)
    context = serializers.RegexField(r"^(ignore|exact|last_turns\([1-9][0-9]?\))$", required=False)  # type: ignore[assignment]
    guards = serializers.DictField(child=serializers.BooleanField(), required=False)
    paused = serializers.BooleanField(required=False)
    judge = serializers.ChoiceField(Namespace.Judge.choices, read_only=True)
    promotion_paused = serializers.CharField(
        read_only=True, help_text="Why promotion paused by itself; empty while it runs."
    )


class PolicyView(APIView):
    """The policy of one namespace."""

    method_scopes = {"PATCH": "operator"}

    @extend_schema(operation_id="answers_policy_read", responses={200: PolicySerializer, **PROBLEMS})
    def get(self, request: Request, namespace: str) -> Response:
        """Give the policy in force, defaults included."""
        return Response(rendered(policies.namespace(caller_of(request).workspace_id, namespace)))

    @extend_schema(
        operation_id="answers_policy_change",
        request=PolicySerializer,
        responses={200: PolicySerializer, 201: PolicySerializer, **PROBLEMS},
    )
    def patch(self, request: Request, namespace: str) -> Response:
        """Change some settings; a new name creates the namespace with defaults."""
        if not isinstance(request.data, dict):
            raise access.Invalid("Send a JSON object.")
        patch = {name: value for name, value in request.data.items() if name not in TOLD}
        row, created = policies.change(caller_of(request), namespace, patch)
        return Response(rendered(row), status=201 if created else 200)


def rendered(row: Namespace) -> dict[str, Any]:
    """Write a namespace's whole policy, who judges, and whether promotion paused by itself."""
    told = {name: getattr(row, name) for name in TOLD}
    return {**Policy.from_mapping(row.policy).to_mapping(), **told}
