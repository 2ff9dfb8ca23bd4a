"""Find where shots and slides change with the scene model, and judge it against the threshold."""

from __future__ import annotations

import time
from collections.abc import Mapping
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from apps.segments.core import features
from apps.segments.core.features import Array
from apps.segments.core.scene.clips import FRAMES, SIDE, draw
from apps.segments.core.scene.network import forward, patches

STRIDE = 4  # frames between windows: every change is seen by two of them
WINDOWS = 16  # at a time
JUDGED_ON = 3  # the seed of the clips that the gate looks at
Bools = npt.NDArray[np.bool_]


@dataclass(frozen=True)
class SceneModel:
    """Weights of the video transformer (`network`)."""

    weights: Mapping[str, Array]

    def odds(self, clips: Array) -> Array:
        """Give the log-odds (n x 7) of a change at each frame of clips (n x 8 x 64 x 64 x 3, 0 to 1)."""
        return np.asarray(forward(np, self.weights, patches(clips)), np.float32)

    def cuts(self, pictures: npt.NDArray[np.uint8]) -> Bools:
        """Say for each picture of a video (n x 64 x 64 x 3, one a second) whether it begins a shot or slide."""
        total, seen = np.zeros(len(pictures)), np.zeros(len(pictures))
        padded = np.concatenate([pictures, np.repeat(pictures[-1:], FRAMES, axis=0)]) if len(pictures) else pictures
        starts = range(0, max(0, len(pictures) - 1), STRIDE)
        for place in range(0, len(starts), WINDOWS):
            some = starts[place : place + WINDOWS]
            clips = np.stack([padded[at : at + FRAMES] for at in some]).astype(np.float32)
            for start, odds in zip(some, self.odds(clips / np.float32(255)), strict=True):
                end = min(start + FRAMES, len(pictures))
                total[start + 1 : end] += odds[: end - start - 1]
                seen[start + 1 : end] += 1
        return np.asarray(total / np.maximum(seen, 1) > 0, np.bool_) & (seen > 0)


def rounded(model: SceneModel) -> SceneModel:
    """Give the model with eight-bit weights, each column on a scale of its own: what an edge would run."""
    found = {}
    for name, each in model.weights.items():
        scale = np.maximum(np.abs(each).max(axis=0, keepdims=True), 1e-12) / 127
        found[name] = np.asarray(np.round(each / scale).astype(np.int8) * scale, np.float32)
    return SceneModel(found)


@dataclass(frozen=True)
class Verdict:
    """F1 of finding changes on clips nobody was trained on: the model, its eight-bit form, the threshold; ms a clip."""

    model: float
    rounded: float
    threshold: float
    ms: float

    @property
    def serves(self) -> bool:
        """Say whether the model may take the threshold's place."""
        return self.model > self.threshold


def judge(model: SceneModel, clips: int = 200, seed: int = JUDGED_ON) -> Verdict:
    """Compare a model with the threshold on as many fresh clips of films as of slides."""
    found: dict[str, list[Bools]] = {"model": [], "rounded": [], "threshold": []}
    truth, took = [], 0.0
    small = rounded(model)
    for profile in ("film", "slides"):
        drawn, cut = draw(clips, seed, profile)
        truth.append(cut)
        before = time.perf_counter()
        found["model"].append(np.concatenate([model.odds(drawn[at : at + 1]) for at in range(clips)]) > 0)
        took += time.perf_counter() - before
        found["rounded"].append(small.odds(drawn) > 0)
        tiny = drawn.reshape(clips, FRAMES, features.SIDE, SIDE // features.SIDE, features.SIDE, -1, 3).mean((3, 5, 6))
        found["threshold"].append(np.stack([features.cuts(clip.astype(np.float32), profile)[1:] for clip in tiny]))
    right = np.concatenate(truth)
    score = {name: f1(np.concatenate(parts), right) for name, parts in found.items()}
    return Verdict(score["model"], score["rounded"], score["threshold"], took * 1000 / (2 * clips))


def f1(found: Bools, right: Bools) -> float:
    """Give the harmonic mean of precision and recall; 1 where there was nothing to find and nothing was found."""
    wanted = int(found.sum() + right.sum())
    return 2 * int((found & right).sum()) / wanted if wanted else 1.0
