"""The scene model of a workspace: train it on generated clips, and give it to those who describe videos."""

from __future__ import annotations

from uuid import UUID

from apps.segments.core import scene
from apps.segments.core.packing import pack, unpack
from apps.segments.core.scene import SceneModel, Verdict
from apps.segments.models import Predictor, Training
from apps.segments.services import versions

Role = Predictor.Role


def train(row: Training, clips: int = 3_000, epochs: int = 8) -> Predictor:
    """Fit a version, judge it on clips that nobody was trained on, and let it serve if it beats the threshold."""
    model = scene.fit(clips, epochs, row.renew)
    made = keep(row, model, scene.judge(model), 2 * clips)
    if made.passes:
        versions.put_in_service(row.workspace_id, made)
    return made


def keep(row: Training, model: SceneModel, verdict: Verdict, clips: int) -> Predictor:
    """Keep a version; its losses are 1 - F1, its baseline that of the threshold."""
    state = {"weights": pack(dict(model.weights)), "eight_bit_loss": round(1 - verdict.rounded, 6)}
    return Predictor.objects.create(
        workspace_id=row.workspace_id, role=Role.SCENE, kind=Predictor.Kind.SCENE,
        number=versions.next_number(row.workspace_id), state=state, loss=1 - verdict.model,
        baseline=1 - verdict.threshold, p99_ms=verdict.ms, examples=clips, passes=verdict.serves, by=row.by,
    )  # fmt: skip


def serving(workspace_id: UUID) -> SceneModel | None:
    """Give the scene model that serves; None while the threshold does its work."""
    row = Predictor.objects.filter(workspace_id=workspace_id, role=Role.SCENE, serving=True).first()
    return SceneModel(unpack(row.state["weights"])) if row else None
