"""Calibrate thresholds on labelled pairs, and replay traffic under a candidate policy."""

from __future__ import annotations

import csv
import io
import json
from typing import Any, ClassVar

from django.db.models import QuerySet
from drf_spectacular.utils import OpenApiParameter, extend_schema, extend_schema_view
from rest_framework import mixins, serializers, viewsets
from rest_framework.parsers import BaseParser, JSONParser, MultiPartParser
from rest_framework.request import Request
from rest_framework.response import Response

from apps.access import services as access
from apps.access.api.authentication import caller_of
from apps.access.api.documented import PROBLEMS
from apps.access.api.idempotency import Idempotent
from apps.answers.api.policies import PolicySerializer
from apps.answers.models import Calibration, Replay
from apps.answers.services import judging, policies
from apps.answers.services.judging import LabelledPair

IDEMPOTENCY = OpenApiParameter("Idempotency-Key", str, OpenApiParameter.HEADER)
TRUE, FALSE = {"1", "true", "yes", "same"}, {"0", "false", "no", "different"}


class TextParser(BaseParser):
    """Hand a CSV body on as text."""

    media_type = "text/csv"

    def parse(self, stream: Any, media_type: str | None = None, parser_context: Any = None) -> Any:
        """Decode the body as UTF-8."""
        try:
            return str(stream.read().decode("utf-8-sig"))
        except UnicodeDecodeError as problem:
            raise access.Unparsable("The body is not UTF-8 text.") from problem


class PairSerializer(serializers.Serializer[Any]):
    """One labelled pair."""

    question = serializers.CharField(max_length=16_384)
    golden_question = serializers.CharField(max_length=16_384)
    same = serializers.BooleanField()


class CalibrationRequest(serializers.Serializer[Any]):
    """What to calibrate for, with labelled pairs to add first, if any."""

    namespace = serializers.CharField(default="default", max_length=63)
    error_budget = serializers.FloatField(required=False, min_value=0.0001, max_value=0.5)
    confidence = serializers.FloatField(required=False, min_value=0.5, max_value=0.999)
    pairs = PairSerializer(many=True, required=False)
    canary = serializers.BooleanField(default=False)


class PointSerializer(serializers.Serializer[Any]):
    """One threshold of the curve."""

    tau = serializers.FloatField()
    hits = serializers.IntegerField()
    wrong = serializers.IntegerField()
    precision = serializers.FloatField()
    precision_lower = serializers.FloatField()
    recall = serializers.FloatField()
    error_upper = serializers.FloatField()


class ProposalSerializer(serializers.Serializer[Any]):
    """Thresholds for the budget, or how many more labels they need."""

    tau_static = serializers.FloatField(allow_null=True)
    tau_dynamic = serializers.FloatField(allow_null=True)
    sigma_min = serializers.FloatField(allow_null=True)
    labels = serializers.IntegerField()
    more_labels = serializers.IntegerField()
    note = serializers.CharField()


class CalibrationSerializer(serializers.ModelSerializer[Calibration]):
    """A curve and a proposal."""

    namespace = serializers.CharField(source="namespace.name", read_only=True)
    curve = PointSerializer(many=True, read_only=True)
    proposal = ProposalSerializer(read_only=True)

    class Meta:
        model = Calibration
        fields = ("id", "namespace", "error_budget", "confidence", "labels", "curve", "proposal", "created_at")
        read_only_fields = fields


@extend_schema_view(
    list=extend_schema(responses={200: CalibrationSerializer(many=True), **PROBLEMS}),
    retrieve=extend_schema(responses={200: CalibrationSerializer, **PROBLEMS}),
)
class CalibrationViewSet(
    Idempotent, mixins.ListModelMixin, mixins.RetrieveModelMixin, viewsets.GenericViewSet[Calibration]
):
    """Calibrations of this workspace."""

    scope = "operator"
    method_scopes: ClassVar = {"GET": "client"}
    serializer_class = CalibrationSerializer
    queryset = Calibration.objects.none()
    parser_classes = (JSONParser, TextParser, MultiPartParser)

    def get_queryset(self) -> QuerySet[Calibration]:
        """Keep to the caller's workspace."""
        if getattr(self, "swagger_fake_view", False):
            return Calibration.objects.none()
        workspace = caller_of(self.request).workspace_id
        return Calibration.objects.filter(namespace__workspace_id=workspace).select_related("namespace")

    @extend_schema(
        parameters=[
            IDEMPOTENCY,
            OpenApiParameter("namespace", str, description="For a CSV body."),
            OpenApiParameter("error_budget", float, description="For a CSV body."),
        ],
        request={"application/json": CalibrationRequest, "text/csv": str},
        responses={201: CalibrationSerializer, **PROBLEMS},
    )
    def create(self, request: Request, *args: Any, **kwargs: Any) -> Response:
        """Add labelled pairs, if any are sent, and calibrate on all labels of the namespace."""
        values = _calibration_values(request)
        caller = caller_of(request)
        namespace = policies.namespace(caller.workspace_id, values["namespace"])
        if pairs := values.get("pairs"):
            judging.add_pairs(caller, namespace, [LabelledPair(**pair) for pair in pairs], canary=values["canary"])
            judging.learn(namespace)
        row = judging.calibrate(caller, namespace, values.get("error_budget"), values.get("confidence", 0.95))
        return Response(CalibrationSerializer(row).data, status=201)


def _calibration_values(request: Request) -> dict[str, Any]:
    """Read JSON, a CSV body, or a CSV file with form fields."""
    data: Any = request.data
    if isinstance(data, str):
        data = {**request.query_params.dict(), "pairs": _pairs(data)}
    elif "file" in getattr(request, "FILES", {}):
        upload = request.FILES["file"]
        data = {**{name: data[name] for name in data if name != "file"}, "pairs": _pairs(_text(upload.read()))}
    body = CalibrationRequest(data=data)
    body.is_valid(raise_exception=True)
    return dict(body.validated_data)


def _text(content: bytes) -> str:
    try:
        return content.decode("utf-8-sig")
    except UnicodeDecodeError as problem:
        raise access.Unparsable("The file is not UTF-8 text.") from problem


def _pairs(content: str) -> list[dict[str, Any]]:
    """Read `question,golden_question,same` rows.

    Raises:
        Invalid: the header or a row is not as it should be; every broken row is named.
    """
    rows = csv.DictReader(io.StringIO(content), strict=True)
    errors: list[tuple[str, str]] = []
    pairs = []
    try:
        if not {"question", "golden_question", "same"} <= set(rows.fieldnames or ()):
            raise access.Invalid("The header must name question, golden_question and same.", field="file")
        for number, row in enumerate(rows, 1):
            said = (row["same"] or "").strip().lower()
            if said not in TRUE | FALSE:
                errors.append((f"pairs.{number}.same", "Must be true or false."))
            pairs.append({"question": row["question"], "golden_question": row["golden_question"], "same": said in TRUE})
    except csv.Error as problem:
        raise access.Invalid(f"The CSV breaks in line {rows.line_num}: {problem}", field="file") from problem
    if errors:
        raise access.Invalid("Some rows are not valid.", errors=errors[:100])
    return pairs


class ReplayRequest(serializers.Serializer[Any]):
    """A candidate policy, and the traffic to replay."""

    namespace = serializers.CharField(default="default", max_length=63)
    candidate = PolicySerializer()
    traffic = serializers.CharField(default="recorded", help_text="`recorded`, or use `questions` or a file.")
    questions = serializers.ListField(child=serializers.CharField(max_length=16_384), required=False)
    since = serializers.DateTimeField(required=False, allow_null=True)


class ReplaySerializer(serializers.ModelSerializer[Replay]):
    """A replay; `result` is empty until it is done."""

    namespace = serializers.CharField(source="namespace.name", read_only=True)
    candidate = serializers.DictField(read_only=True)
    result = serializers.DictField(read_only=True)

    class Meta:
        model = Replay
        fields = (
            "id", "namespace", "status", "candidate", "traffic", "since", "result", "error", "created_at",
            "finished_at",
        )  # fmt: skip
        read_only_fields = fields


@extend_schema_view(
    list=extend_schema(responses={200: ReplaySerializer(many=True), **PROBLEMS}),
    retrieve=extend_schema(responses={200: ReplaySerializer, **PROBLEMS}),
)
class ReplayViewSet(Idempotent, mixins.ListModelMixin, mixins.RetrieveModelMixin, viewsets.GenericViewSet[Replay]):
    """Replays of this workspace."""

    scope = "operator"
    method_scopes: ClassVar = {"GET": "client"}
    serializer_class = ReplaySerializer
    queryset = Replay.objects.none()
    parser_classes = (JSONParser, MultiPartParser)

    def get_queryset(self) -> QuerySet[Replay]:
        """Keep to the caller's workspace."""
        if getattr(self, "swagger_fake_view", False):
            return Replay.objects.none()
        workspace = caller_of(self.request).workspace_id
        return Replay.objects.filter(namespace__workspace_id=workspace).select_related("namespace")

    @extend_schema(parameters=[IDEMPOTENCY], request=ReplayRequest, responses={202: ReplaySerializer, **PROBLEMS})
    def create(self, request: Request, *args: Any, **kwargs: Any) -> Response:
        """Queue a replay of a candidate policy beside the current one."""
        values, candidate = _replay_values(request)
        caller = caller_of(request)
        namespace = policies.namespace(caller.workspace_id, values["namespace"])
        questions = values.get("questions") or []
        if not questions and values["traffic"] != "recorded":
            raise access.Invalid("Must be `recorded`, or come with questions or a file.", field="traffic")
        row = judging.start_replay(caller, namespace, candidate, questions, values.get("since"))
        return Response(ReplaySerializer(row).data, status=202)


def _replay_values(request: Request) -> tuple[dict[str, Any], dict[str, Any]]:
    """Read JSON, or a form with the candidate as JSON and a CSV file with a `text` or `question` column."""
    data: Any = request.data
    if "file" in getattr(request, "FILES", {}):
        data = {name: data[name] for name in data if name != "file"}
        try:
            data["candidate"] = json.loads(data.get("candidate", "{}"))
        except ValueError as problem:
            raise access.Unparsable("candidate is not JSON.") from problem
        data["questions"] = _questions(_text(request.FILES["file"].read()))
    body = ReplayRequest(data=data)
    body.is_valid(raise_exception=True)
    return dict(body.validated_data), dict(data["candidate"])


def _questions(content: str) -> list[str]:
    rows = csv.DictReader(io.StringIO(content))
    name = next((name for name in ("question", "text") if name in (rows.fieldnames or ())), None)
    if name is None:
        raise access.Invalid("The file needs a column `question` or `text`.", field="file")
    return [row[name] for row in rows if row[name]]
