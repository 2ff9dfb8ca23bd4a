"""Features of segments: cuts by profile, telling words, and vectors of length 1 or none."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from apps.segments.core import features
from apps.segments.core.captions import Cue

UNSEEN, NO_CUT = np.zeros((0, 16, 16, 3), np.uint8), np.zeros(0, np.bool_)


def pictures(*levels: int) -> np.ndarray:
    return np.stack([np.full((16, 16, 3), level, np.uint8) for level in levels])


def test_a_slide_changes_little_and_a_shot_much() -> None:
    grey = pictures(100, 100, 108, 108, 200).astype(np.float32).mean(-1) / 255
    assert features.cuts(grey, "slides").tolist() == [False, False, True, False, True]
    assert features.cuts(grey, "film").tolist() == [False, False, False, False, True]


def test_segments_that_say_the_same_are_alike_and_others_are_not() -> None:
    cues = [
        Cue(0, 6, "gradient descent and momentum"),
        Cue(6, 12, "the french revolution"),
        Cue(12, 18, "momentum and gradient descent"),
    ]
    found = features.describe(UNSEEN, NO_CUT, cues, [0, 6, 12], [6, 12, 18], "education")
    first, second, third = (each.vector for each in found)
    assert first is not None and second is not None and third is not None
    assert float(first @ third) > 0.9
    assert abs(float(first @ second)) < 0.4


def test_what_is_neither_seen_nor_said_has_no_vector() -> None:
    (found,) = features.describe(UNSEEN, NO_CUT, [], [0.0], [6.0], "film")
    assert (found.vector, found.density, found.cuts, found.continuity) == (None, 0.0, 0, 1.0)


def test_plain_words_carry_no_knowledge() -> None:
    assert features.density("and then you get what you see") == 0
    assert features.density("eigenvalues determine stability") == 1


@given(st.text(max_size=300), st.lists(st.integers(0, 255), max_size=8))
def test_any_segment_can_be_described(text: str, levels: list[int]) -> None:
    seen = pictures(*levels) if levels else UNSEEN
    cut = features.cuts(features.brightness(seen), "film")
    (found,) = features.describe(seen, cut, [Cue(0, 6, text)], [0.0], [6.0], "film")
    assert 0 <= found.density <= 1
    assert 0 < found.continuity <= 1
    if found.vector is not None:
        assert float(np.linalg.norm(found.vector)) == pytest.approx(1, abs=1e-3)
        assert found.vector.shape == (features.DIMENSIONS,)
