"""The scene model: what it is trained on has the cuts it says, training teaches it to find them, eight bits keep it."""

from __future__ import annotations

import numpy as np
import pytest
import torch

from apps.segments.core import scene
from apps.segments.core.packing import pack, unpack
from apps.segments.core.scene import SIDE, SceneModel
from apps.segments.core.scene.clips import FRAMES, draw
from apps.segments.core.scene.detector import f1
from apps.segments.core.scene.network import forward, initial, patches


@pytest.fixture(scope="module")
def fitted() -> SceneModel:
    return scene.fit(clips=400, epochs=5)


@pytest.mark.parametrize("profile", ["film", "slides"])
def test_a_drawn_clip_changes_most_where_it_says(profile: str) -> None:
    clips, cut = draw(200, 5, profile)
    assert clips.shape == (200, FRAMES, SIDE, SIDE, 3)
    assert (clips.min(), clips.max()) >= (0.0, 0.5) and clips.max() <= 1.0
    change = np.abs(np.diff(clips, axis=1)).mean((2, 3, 4))
    assert np.median(change[cut]) > 2 * np.median(change[~cut])
    again, same = draw(200, 5, profile)
    np.testing.assert_array_equal(clips, again)
    np.testing.assert_array_equal(cut, same)


def test_training_teaches_it(fitted: SceneModel) -> None:
    told = scene.judge(fitted, clips=100)
    untrained = scene.judge(SceneModel({name: each.astype(np.float32) for name, each in initial().items()}), clips=100)
    assert told.model > 0.7 > untrained.model
    assert told.serves == (told.model > told.threshold)
    assert abs(told.model - told.rounded) < 0.02


def test_a_long_video_is_cut_where_its_clips_are(fitted: SceneModel) -> None:
    clips, _ = draw(3, 7, "film")
    whole = (np.concatenate([np.repeat(clip[:1], 11, axis=0) for clip in clips]) * 255).astype(np.uint8)
    assert np.flatnonzero(fitted.cuts(whole)).tolist() == [11, 22]


@pytest.mark.parametrize("length", [0, 1, 2, 7, 8, 9])
def test_videos_of_any_length_are_taken(fitted: SceneModel, length: int) -> None:
    still = np.full((length, SIDE, SIDE, 3), 90, np.uint8)
    assert fitted.cuts(still).tolist() == [False] * length


def test_numpy_and_torch_agree_and_weights_come_back() -> None:
    weights = {name: each.astype(np.float32) for name, each in initial(2).items()}
    cut_up = patches(draw(2, 1, "slides")[0])
    ours = forward(np, unpack(pack(weights)), cut_up)
    theirs = forward(torch, {name: torch.tensor(each) for name, each in weights.items()}, torch.tensor(cut_up))
    np.testing.assert_allclose(ours, theirs.numpy(), atol=1e-4)


def test_f1_counts_both_kinds_of_error() -> None:
    right = np.array([True, True, False, False])
    assert f1(right, right) == 1.0
    assert f1(np.array([True, False, True, False]), right) == 0.5
    assert f1(~right, ~right) == 1.0
    assert f1(np.zeros(2, np.bool_), np.zeros(2, np.bool_)) == 1.0
