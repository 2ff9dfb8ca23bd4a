"""A small video transformer in the manner of TimeSformer (Bertasius et al., 2021): divided space-time attention.

Eight frames of 64 x 64 pixels are cut into patches of 16 x 16. Each layer lets a patch look at the same place in the
other frames, then at the other patches of its frame. What it says: how likely each frame begins a new shot. Weights
are plain arrays; one forward pass serves numpy (describing videos) and torch (training, in a worker only).
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np

from apps.segments.core.attention import attend, normal
from apps.segments.core.catalogue import Floats
from apps.segments.core.features import Array
from apps.segments.core.scene.clips import FRAMES, SIDE

PATCH, WIDTH, HEADS, LAYERS = 16, 64, 4, 2
PLACES = (SIDE // PATCH) ** 2
INPUTS = 2 * 3 * PATCH * PATCH


def patches(clips: Array) -> Array:
    """Cut clips (n x 8 x 64 x 64 x 3) into patches with their change since the frame before: n x 8 x 16 x 1536."""
    change = np.diff(clips, axis=1, prepend=clips[:, :1])
    both = np.concatenate([clips - 0.5, change], axis=-1)
    count, rows = len(clips), SIDE // PATCH
    cut = both.reshape(count, FRAMES, rows, PATCH, rows, PATCH, 6).transpose(0, 1, 2, 4, 3, 5, 6)
    return np.ascontiguousarray(cut.reshape(count, FRAMES, PLACES, INPUTS), np.float32)


def initial(seed: int = 0) -> dict[str, Floats]:
    """Draw weights to begin a training with."""
    rng = np.random.default_rng(seed)

    def drawn(*shape: int) -> Floats:
        return rng.normal(0, shape[0] ** -0.5, shape)

    found = {
        "embed": drawn(INPUTS, WIDTH), "place": rng.normal(0, 0.1, (PLACES, WIDTH)),
        "time": rng.normal(0, 0.1, (FRAMES, 1, WIDTH)), "pair": drawn(3 * WIDTH, WIDTH), "pair_bias": np.zeros(WIDTH),
        "cut": drawn(WIDTH, 1), "bias": np.full(1, -2.0),
    }  # fmt: skip
    for layer in range(LAYERS):
        for part in ("time", "space"):
            found |= {f"{layer}.{part}.{name}": drawn(WIDTH, WIDTH) for name in ("ask", "key", "value", "out")}
        found |= {f"{layer}.up": drawn(WIDTH, 2 * WIDTH), f"{layer}.down": drawn(2 * WIDTH, WIDTH)}
    return found


def forward(xp: Any, weights: Mapping[str, Any], cut_up: Any) -> Any:
    """Give the log-odds (n x 7) that each frame but the first begins a new shot; `xp` is numpy or torch."""
    tokens = cut_up @ weights["embed"] + weights["place"] + weights["time"]
    for layer in range(LAYERS):
        over_time = attend(xp, weights, f"{layer}.time", normal(tokens).swapaxes(1, 2), HEADS)
        tokens = tokens + over_time.swapaxes(1, 2)
        tokens = tokens + attend(xp, weights, f"{layer}.space", normal(tokens), HEADS)
        inner = normal(tokens) @ weights[f"{layer}.up"]
        tokens = tokens + (inner * (inner > 0)) @ weights[f"{layer}.down"]
    frames = normal(tokens).mean(2)
    before, after = frames[:, :-1], frames[:, 1:]
    pair = xp.concatenate([before, after, xp.abs(after - before)], -1) @ weights["pair"] + weights["pair_bias"]
    return ((pair * (pair > 0)) @ weights["cut"] + weights["bias"])[..., 0]
