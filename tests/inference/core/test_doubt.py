"""What is foretold of answers that were not run plain, against what happens to them."""

from __future__ import annotations

from collections import deque

import cv2
import numpy as np
import pytest

from apps.inference.core import comparing, detection, doubt
from apps.inference.core.plain import Outputs


def test_margins_foretell_how_many_answers_flip() -> None:
    rng = np.random.default_rng(0)
    margins = doubt.Margins()
    flips = []
    for _ in range(2000):
        plain = np.array([[0.0, rng.exponential(0.2)]], dtype=np.float32)
        ours = plain + rng.normal(0, 0.05, size=(1, 2)).astype(np.float32)
        margins.saw({"logits": ours})
        margins.compare({"logits": ours}, {"logits": plain})
        flips.append(comparing.top1(ours, plain))
    margins.seen = deque(margins.seen, maxlen=None)
    assert margins.agreement() == pytest.approx(np.mean(flips), abs=0.06)
    assert margins.agreement(3.0) < margins.agreement() < margins.agreement(0.3)


def test_no_margins_foretell_nothing_bad() -> None:
    assert doubt.Margins().agreement() == 1.0


def _fuzzy(rng: np.random.Generator, noise: float) -> tuple[Outputs, Outputs]:
    """A probability map of three regions that may or may not pass for boxes, with errors and without."""
    plain = np.zeros((96, 160), dtype=np.float32)
    for across in (10, 60, 110):
        plain[30:50, across : across + 30] = rng.uniform(0.4, 0.8)
    moved = cv2.GaussianBlur(rng.normal(0, 1, plain.shape).astype(np.float32), (0, 0), 12)
    ours = plain + moved * np.float32(noise / moved.std())
    return {"map": ours[None, None]}, {"map": plain[None, None]}


@pytest.mark.parametrize("noise", [0.01, 0.03])
def test_jitter_foretells_how_well_boxes_agree(noise: float) -> None:
    rng = np.random.default_rng(1)
    jitter, agreed = doubt.Jitter(), []
    for _ in range(360):
        ours, plain = _fuzzy(rng, noise)
        jitter.compare(ours, plain)
        jitter.saw(ours)
        agreed.append(comparing.agreement("detection", ours, plain))
    found = float(np.mean(agreed))
    assert jitter.deviation() == pytest.approx(noise, rel=0.5)
    assert 1 - jitter.agreement() == pytest.approx(1 - found, rel=0.5)
    assert jitter.agreement(1.4) < jitter.agreement() < jitter.agreement(0.7)


def test_jitter_keeps_what_it_saw_when_errors_are_rescaled() -> None:
    rng = np.random.default_rng(2)
    jitter = doubt.Jitter()
    for _ in range(80):
        ours, plain = _fuzzy(rng, 0.05)
        jitter.compare(ours, plain)
        jitter.saw(ours)
    before = jitter.agreement(0.5)
    jitter.rescale(0.5)
    assert jitter.agreement() == pytest.approx(before)
    assert jitter.deviation() == pytest.approx(0.025, rel=0.2)


def test_clear_boxes_and_raw_outputs_raise_no_doubt() -> None:
    plane = np.zeros((1, 1, 40, 60), dtype=np.float32)
    plane[0, 0, 10:20, 5:45] = 0.9
    clear, raw = doubt.doubt("detection"), doubt.doubt("raw")
    for _ in range(8):
        for kind in (clear, raw):
            kind.compare({"map": plane - 0.02}, {"map": plane})
            kind.saw({"map": plane})
    assert (clear.agreement(), raw.agreement()) == (1.0, 1.0)
    assert len(detection.boxes({"map": plane})) == 1


def test_large_errors_are_not_trusted_where_no_box_was_seen_to_change() -> None:
    faint = np.full((1, 1, 40, 60), 0.2, dtype=np.float32)
    jitter = doubt.Jitter()
    jitter.compare({"map": faint + 0.05}, {"map": faint})
    assert jitter.agreement() == 1.0
    jitter.compare({"map": faint + 0.4}, {"map": faint})
    assert jitter.agreement() < 0.9
