"""Rows of the segments app: videos and their segments, viewers' events, edges and plans, predictors."""

from apps.segments.models.edges import Edge, Held, Pin, Plan
from apps.segments.models.predictors import Predictor, Training
from apps.segments.models.tuning import Tuning
from apps.segments.models.videos import Moment, Segment, Video
from apps.segments.models.viewing import Event

__all__ = ["Edge", "Event", "Held", "Moment", "Pin", "Plan", "Predictor", "Segment", "Training", "Tuning", "Video"]
