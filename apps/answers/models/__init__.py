"""Rows of the answers cache."""

from apps.answers.models.entries import Entry
from apps.answers.models.golden import GoldenAnswer, GoldenQuestion, GoldenVersion
from apps.answers.models.judging import CanaryRun, Label, Verification
from apps.answers.models.namespaces import Namespace, PolicyChange
from apps.answers.models.queries import Feedback, Query
from apps.answers.models.studies import Calibration, Replay
from apps.answers.models.upkeep import Watermark

__all__ = [
    "Calibration",
    "CanaryRun",
    "Entry",
    "Feedback",
    "GoldenAnswer",
    "GoldenQuestion",
    "GoldenVersion",
    "Label",
    "Namespace",
    "PolicyChange",
    "Query",
    "Replay",
    "Verification",
    "Watermark",
]
