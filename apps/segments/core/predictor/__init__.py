"""What a viewer will ask for next: the retention curve, and models that must beat it to serve."""

from apps.segments.core.predictor.fitting import fit
from apps.segments.core.predictor.gate import Verdict, answer, judge, log_loss
from apps.segments.core.predictor.kept import dump, load
from apps.segments.core.predictor.markov import Markov
from apps.segments.core.predictor.retention import Retention, onward_of
from apps.segments.core.predictor.trajectory import Trajectory
from apps.segments.core.predictor.views import MODEL_SEGMENTS, Path, Predictor, View, examples, split, steps, window_s

__all__ = [
    "MODEL_SEGMENTS",
    "Markov",
    "Path",
    "Predictor",
    "Retention",
    "Trajectory",
    "Verdict",
    "View",
    "answer",
    "dump",
    "examples",
    "fit",
    "judge",
    "load",
    "log_loss",
    "onward_of",
    "split",
    "steps",
    "window_s",
]
