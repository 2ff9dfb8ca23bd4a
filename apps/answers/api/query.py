"""Ask, ask in batches, fill what missed."""

from __future__ import annotations

from typing import Any
from uuid import UUID

from drf_spectacular.utils import OpenApiParameter, extend_schema
from rest_framework import serializers
from rest_framework.request import Request
from rest_framework.response import Response
from rest_framework.views import APIView

from apps.access import services as access
from apps.access.api.authentication import caller_of
from apps.access.api.documented import PROBLEMS
from apps.access.api.fields import Words
from apps.access.api.idempotency import Idempotent
from apps.answers import services
from apps.answers.api.entries import EntrySerializer
from apps.answers.core.text import Turn

BATCH = 256
IDEMPOTENCY = OpenApiParameter(
    "Idempotency-Key",
    {"type": "string", "minLength": 1, "maxLength": 255},
    OpenApiParameter.HEADER,
    description="Do this once.",
)


class TurnSerializer(serializers.Serializer[Any]):
    """One turn of the conversation before the question."""

    role = Words(max_length=40)
    content = Words(allow_blank=True, trim_whitespace=False, max_length=65_536)


class QuestionSerializer(serializers.Serializer[Any]):
    """What a client asks."""

    question = Words(trim_whitespace=False, max_length=16_384)
    namespace = Words(default="default", max_length=63)
    context = TurnSerializer(many=True, required=False, allow_empty=True)  # type: ignore[assignment]
    lookaside = serializers.BooleanField(required=False, allow_null=True, default=None)


class GoldenReference(serializers.Serializer[Any]):
    """The golden answer behind a reply."""

    id = serializers.UUIDField()
    version = serializers.IntegerField()
    question = serializers.CharField()


class Similarities(serializers.Serializer[Any]):
    """Cosine similarity to the nearest question of each tier; null when that tier was not searched or is empty."""

    static = serializers.FloatField(allow_null=True)
    dynamic = serializers.FloatField(allow_null=True)


class Timings(serializers.Serializer[Any]):
    """Milliseconds spent in each step; 0 where a step was not needed."""

    embed = serializers.FloatField()
    search = serializers.FloatField()
    backend = serializers.FloatField()
    total = serializers.FloatField()


class ServedSerializer(serializers.Serializer[Any]):
    """What was served and where it comes from."""

    id = serializers.UUIDField(allow_null=True)
    outcome = serializers.ChoiceField(["static_hit", "dynamic_hit", "miss", "bypass"])
    answer = serializers.CharField(allow_null=True)
    origin = serializers.ChoiceField(["golden", "generated", "client"], allow_null=True)
    golden = GoldenReference(allow_null=True)
    similarity = Similarities()
    guards = serializers.ListField(child=serializers.CharField())
    grey = serializers.BooleanField()
    verification = serializers.UUIDField(allow_null=True)
    timings_ms = Timings()


class FillSerializer(serializers.Serializer[Any]):
    """A client's answer to a question that missed."""

    answer = Words(trim_whitespace=False)
    ttl_s = serializers.IntegerField(required=False, min_value=1, max_value=315_360_000)


class QueryView(APIView):
    """Ask one question."""

    @extend_schema(
        operation_id="answers_query", request=QuestionSerializer, responses={200: ServedSerializer, **PROBLEMS}
    )
    def post(self, request: Request) -> Response:
        """Serve a question from the cache, or by read-through when a backend is configured."""
        return Response(rendered(services.serve(caller_of(request), *parsed(request.data))))


class BatchView(APIView):
    """Ask up to 256 questions at once."""

    @extend_schema(
        operation_id="answers_query_batch",
        request=QuestionSerializer(many=True),
        responses={200: ServedSerializer(many=True), **PROBLEMS},
    )
    def post(self, request: Request) -> Response:
        """Serve a list of questions; the replies stand in the same order."""
        caller = caller_of(request)
        if not isinstance(request.data, list):
            raise access.Invalid("Send a JSON array of questions.")
        if not 1 <= len(request.data) <= BATCH:
            raise access.Invalid(f"A batch has 1 to {BATCH} questions.")
        questions = parsed_many(request.data)
        access.spend(caller, len(questions) - 1)
        return Response([rendered(served) for served in services.serve_batch(caller, questions)])


class FillView(Idempotent):
    """Fill one question that missed."""

    @extend_schema(
        operation_id="answers_query_fill",
        parameters=[IDEMPOTENCY],
        request=FillSerializer,
        responses={201: EntrySerializer, **PROBLEMS},
    )
    def post(self, request: Request, *args: Any, **kwargs: Any) -> Response:
        """Bring the answer to a question that missed; 409 when it was answered since."""
        return super().post(request, *args, **kwargs)

    def create(self, request: Request, *args: Any, **kwargs: Any) -> Response:
        """Write the entry."""
        body = FillSerializer(data=request.data)
        body.is_valid(raise_exception=True)
        entry = services.fill(caller_of(request), UUID(str(kwargs["pk"])), **body.validated_data)
        return Response(EntrySerializer(entry).data, status=201)


def parsed(data: Any) -> tuple[services.Question, bool | None]:
    """Read one question and whether its client wants to fill it itself."""
    body = QuestionSerializer(data=data)
    body.is_valid(raise_exception=True)
    return _question(body.validated_data)


def parsed_many(data: list[Any]) -> list[tuple[services.Question, bool | None]]:
    """Read a batch; errors name the index of the broken question."""
    body = QuestionSerializer(data=data, many=True)
    body.is_valid(raise_exception=True)
    return [_question(values) for values in body.validated_data]


def _question(values: dict[str, Any]) -> tuple[services.Question, bool | None]:
    turns = tuple(Turn(turn["role"], turn["content"]) for turn in values.get("context") or ())
    return services.Question(values["question"], values["namespace"], turns), values["lookaside"]


def rendered(served: services.Served) -> dict[str, Any]:
    """Write what was served in the words of the contract."""
    golden = None
    if served.golden_id is not None:
        golden = {
            "id": str(served.golden_id),
            "version": served.golden_version,
            "question": served.golden_question,
        }
    return {
        "id": str(served.query_id) if served.query_id else None,
        "outcome": served.outcome,
        "answer": served.answer,
        "origin": served.origin,
        "golden": golden,
        "similarity": {"static": served.s_static, "dynamic": served.s_dynamic},
        "guards": list(served.guards),
        "grey": served.grey,
        "verification": str(served.verification_id) if served.verification_id else None,
        "timings_ms": served.timings_ms,
    }
