"""Rows of the inference cache."""

from apps.inference.models.jobs import Frame, Job
from apps.inference.models.networks import Network
from apps.inference.models.plans import Planned
from apps.inference.models.streams import Stream

__all__ = ["Frame", "Job", "Network", "Planned", "Stream"]
