"""What a viewer will ask for next: the retention curve, and a Markov chain that must beat it."""

from apps.segments.core.predictor.gate import Verdict, answer, judge, log_loss
from apps.segments.core.predictor.markov import Markov
from apps.segments.core.predictor.retention import Retention
from apps.segments.core.predictor.views import MODEL_SEGMENTS, Path, Predictor, View, examples, split, steps, window_s

__all__ = [
    "MODEL_SEGMENTS",
    "Markov",
    "Path",
    "Predictor",
    "Retention",
    "Verdict",
    "View",
    "answer",
    "examples",
    "judge",
    "log_loss",
    "split",
    "steps",
    "window_s",
]
