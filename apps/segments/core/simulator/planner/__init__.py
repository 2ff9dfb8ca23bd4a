"""The planner's policy in the simulator: keep by expected next access, admit, pin, prewarm."""

from apps.segments.core.simulator.planner.policy import run
from apps.segments.core.simulator.planner.state import Settings

__all__ = ["Settings", "run"]
