"""Scene understanding: where shots and slides change."""

from apps.segments.core.scene.clips import SIDE
from apps.segments.core.scene.detector import SceneModel, Verdict, judge, rounded
from apps.segments.core.scene.learning import fit

__all__ = ["SIDE", "SceneModel", "Verdict", "fit", "judge", "rounded"]
