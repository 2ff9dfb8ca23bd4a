"""Train the scene model on generated clips, for as long as clips that it has not seen gain by it."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from apps.segments.core.features import Array
from apps.segments.core.scene.clips import draw
from apps.segments.core.scene.detector import SceneModel
from apps.segments.core.scene.network import forward, initial, patches

BATCH, RATE, DECAY = 32, 1.5e-3, 1e-2
TRAINED_ON, CHECKED_ON = 1, 2  # seeds; the gate judges on others


def fit(clips: int = 3_000, epochs: int = 8, renew: Callable[[], object] = lambda: None) -> SceneModel:
    """Fit a model on so many clips of each profile; some minutes of one core with the defaults.

    `renew` is called now and then, some seconds apart at most.
    """
    import torch  # only workers have need of it

    torch.set_num_threads(1)
    torch.manual_seed(0)
    learn, check = _data(clips, TRAINED_ON, renew), _data(max(8, clips // 10), CHECKED_ON, renew)
    weights = {name: torch.tensor(each, dtype=torch.float32) for name, each in initial().items()}
    for each in weights.values():
        each.requires_grad_(True)
    optimiser = torch.optim.AdamW(list(weights.values()), lr=RATE, weight_decay=DECAY)
    steps = max(1, epochs * len(learn[0]) // BATCH)
    schedule = torch.optim.lr_scheduler.OneCycleLR(optimiser, RATE, total_steps=steps + epochs)
    rng = np.random.default_rng(0)
    best = (_loss_of(torch, weights, check), _copy(weights))
    for _ in range(epochs):
        order = rng.permutation(len(learn[0]))
        for batch in np.array_split(order, max(1, len(order) // BATCH)):
            optimiser.zero_grad()
            _loss(torch, weights, learn[0][batch], learn[1][batch]).backward()
            optimiser.step()
            schedule.step()
            renew()
        now = _loss_of(torch, weights, check)
        best = (now, _copy(weights)) if now < best[0] else best
    return SceneModel(best[1])


def _data(clips: int, seed: int, renew: Callable[[], object]) -> tuple[Array, Array]:
    parts = []
    for profile in ("film", "slides"):
        drawn, cut = draw(clips, seed, profile)
        renew()
        parts.append((patches(drawn), cut.astype(np.float32)))
    return np.concatenate([part[0] for part in parts]), np.concatenate([part[1] for part in parts])


def _loss(torch: Any, weights: dict[str, Any], cut_up: Array, cut: Array) -> Any:
    odds = forward(torch, weights, torch.from_numpy(cut_up))
    return torch.nn.functional.binary_cross_entropy_with_logits(odds, torch.from_numpy(cut))


def _loss_of(torch: Any, weights: dict[str, Any], data: tuple[Array, Array]) -> float:
    total = 0.0
    with torch.no_grad():
        for place in range(0, len(data[0]), BATCH):
            part = slice(place, place + BATCH)
            total += float(_loss(torch, weights, data[0][part], data[1][part])) * len(data[0][part])
    return total / len(data[0])


def _copy(weights: dict[str, Any]) -> dict[str, Array]:
    return {name: each.detach().numpy().astype(np.float32) for name, each in weights.items()}
