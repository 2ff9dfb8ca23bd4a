"""What viewers did, and what they will ask for next."""

from __future__ import annotations

from typing import Any

from drf_spectacular.utils import extend_schema
from rest_framework import serializers
from rest_framework.parsers import BaseParser, JSONParser
from rest_framework.request import Request
from rest_framework.response import Response
from rest_framework.views import APIView

from apps.access import services as access
from apps.access.api.authentication import caller_of
from apps.access.api.documented import PROBLEMS
from apps.access.api.fields import Words
from apps.segments.models import Event
from apps.segments.services import predicting, videos, viewing


class EventSerializer(serializers.Serializer[Any]):
    """One event; `at` is ISO 8601 and now when left out, `rendition` a place, a height or a name."""

    viewer = serializers.CharField(max_length=200)
    video = serializers.UUIDField()
    session = serializers.CharField(max_length=64)
    event = serializers.ChoiceField(Event.What.choices)
    position_s = serializers.FloatField(min_value=0)
    rendition = serializers.IntegerField(required=False, allow_null=True)
    at = serializers.DateTimeField(required=False)


class EventProblem(serializers.Serializer[Any]):
    """What was wrong with one event of the list."""

    index = serializers.IntegerField()
    message = serializers.CharField()


class TakenSerializer(serializers.Serializer[Any]):
    """How many events were taken, and what was wrong with the others."""

    accepted = serializers.IntegerField()
    errors = EventProblem(many=True)  # type: ignore[assignment]


class ViewerSerializer(serializers.Serializer[Any]):
    """Who is to be forgotten."""

    viewer = Words(max_length=200)


class ForgottenSerializer(serializers.Serializer[Any]):
    """How many events were deleted."""

    deleted = serializers.IntegerField()


class PredictRequest(serializers.Serializer[Any]):
    """Who watches what, and where they are."""

    viewer = Words(max_length=200)
    video = serializers.UUIDField()
    position_s = serializers.FloatField(min_value=0, max_value=10**6)
    window_s = serializers.FloatField(required=False, allow_null=True, min_value=1, max_value=600)


class LikelySerializer(serializers.Serializer[Any]):
    """One of the next segments and its probability."""

    index = serializers.IntegerField()
    probability = serializers.FloatField()


class PredictionSerializer(serializers.Serializer[Any]):
    """Which model spoke, and what it expects within the window."""

    model = serializers.CharField()
    window_s = serializers.FloatField()
    segments = LikelySerializer(many=True)


class ViewsView(APIView):
    """Events of viewers, in bulk."""

    method_scopes = {"DELETE": "operator"}

    @extend_schema(
        operation_id="segments_views",
        request=EventSerializer(many=True),
        responses={202: TakenSerializer, **PROBLEMS},
    )
    def post(self, request: Request) -> Response:
        """Take up to 5,000 events in any order; each counts once."""
        if not isinstance(request.data, list):
            raise access.Invalid("Send a JSON array of events.")
        return _taken(viewing.take(caller_of(request), request.data))

    @extend_schema(
        operation_id="segments_views_forget",
        parameters=[ViewerSerializer],
        responses={200: ForgottenSerializer, **PROBLEMS},
    )
    def delete(self, request: Request) -> Response:
        """Delete everything that one viewer did."""
        body = ViewerSerializer(data=request.query_params.dict())
        body.is_valid(raise_exception=True)
        return Response({"deleted": viewing.forget(caller_of(request), body.validated_data["viewer"])})


class CmcdParser(BaseParser):
    """The reports of a CMCD event target as text."""

    media_type = "application/cmcd"

    def parse(self, stream: Any, media_type: Any = None, parser_context: Any = None) -> Any:
        """Read UTF-8.

        Raises:
            Unparsable: it is something else.
        """
        try:
            return str(stream.read().decode())
        except UnicodeDecodeError as problem:
            raise access.Unparsable("The body is not UTF-8 text.") from problem


class PlainParser(CmcdParser):
    """The same, from players that call it text."""

    media_type = "text/plain"


class CmcdView(APIView):
    """The event target of players that speak CMCD (CTA-5004)."""

    parser_classes = (CmcdParser, PlainParser, JSONParser)

    @extend_schema(
        operation_id="segments_cmcd",
        request={"application/cmcd": str, "text/plain": str},
        responses={202: TakenSerializer, **PROBLEMS},
    )
    def post(self, request: Request) -> Response:
        """Take reports, one a line."""
        if not isinstance(request.data, str) or not request.data.strip():
            raise access.Invalid("Send CMCD reports, one a line.")
        return _taken(viewing.take_cmcd(caller_of(request), request.data))


class PredictView(APIView):
    """What comes next."""

    @extend_schema(
        operation_id="segments_predict", request=PredictRequest, responses={200: PredictionSerializer, **PROBLEMS}
    )
    def post(self, request: Request) -> Response:
        """Predict the segments that a viewer plays next."""
        body = PredictRequest(data=request.data)
        body.is_valid(raise_exception=True)
        values, caller = body.validated_data, caller_of(request)
        video = videos.find(caller, values["video"])
        found = predicting.predict(caller, values["viewer"], video, values["position_s"], values.get("window_s"))
        segments = [{"index": index, "probability": chance} for index, chance in found.segments]
        return Response({"model": found.model, "window_s": found.window_s, "segments": segments})


def _taken(found: viewing.Taken) -> Response:
    errors = [{"index": number, "message": message} for number, message in found.errors]
    return Response({"accepted": found.accepted, "errors": errors}, status=202)
