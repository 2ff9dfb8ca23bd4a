"""Agreement of two runs, and how outputs are read as boxes."""

from __future__ import annotations

import numpy as np
import pytest

from apps.inference.core import comparing, detection


def _boxes(*rows: tuple[float, float, float, float]) -> comparing.Floats:
    return np.array(rows, dtype=np.float32).reshape(-1, 4)


def test_top_one_compares_the_largest_logit() -> None:
    plain = np.array([[0.1, 0.9, 0.3]], dtype=np.float32)
    assert comparing.top1(np.array([[0.5, 0.6, 0.1]], dtype=np.float32), plain) == 1.0
    assert comparing.top1(np.array([[0.7, 0.6, 0.1]], dtype=np.float32), plain) == 0.0


def test_f1_counts_boxes_that_overlap_by_half() -> None:
    plain = _boxes((0, 0, 10, 10), (20, 20, 30, 30))
    assert comparing.f1(plain, plain) == 1.0
    assert comparing.f1(_boxes((0, 0, 10, 10)), plain) == pytest.approx(2 / 3)
    assert comparing.f1(_boxes((0, 0, 10, 10), (0, 0, 10, 10)), plain) == pytest.approx(1 / 2)
    assert comparing.f1(_boxes((6, 0, 16, 10)), _boxes((0, 0, 10, 10))) == 0.0
    assert comparing.f1(_boxes(), _boxes()) == 1.0
    assert comparing.f1(_boxes(), plain) == 0.0


def test_a_probability_map_becomes_boxes() -> None:
    plane = np.zeros((40, 60), dtype=np.float32)
    plane[10:20, 5:45] = 0.9
    plane[30:32, 50:52] = 0.9
    plane[5:9, 50:58] = 0.4
    found = detection.boxes({"map": plane[None, None]})
    assert len(found) == 1
    assert found[0, 4] == pytest.approx(0.9)
    assert comparing.iou(np.array([0, 4, 51, 26], dtype=np.float32), found[:, :4])[0] > 0.7


def test_rows_of_a_detector_are_thinned_by_overlap_within_a_class() -> None:
    rows = np.zeros((1, 6, 4), dtype=np.float32)
    rows[0, :, 0] = (10, 10, 8, 8, 0.9, 0)
    rows[0, :, 1] = (10.5, 10, 8, 8, 0.8, 0)
    rows[0, :, 2] = (10, 10, 8, 8, 0, 0.7)
    rows[0, :, 3] = (30, 30, 8, 8, 0.1, 0.1)
    found = detection.boxes({"out": rows})
    assert sorted(found[:, 5].tolist()) == [0.0, 1.0]
    assert found[0, :4].tolist() == [6, 6, 14, 14]


def test_scores_are_shifted_and_compared_where_a_box_could_be() -> None:
    rows = np.zeros((1, 6, 2), dtype=np.float32)
    rows[0, :, 0] = (10, 10, 8, 8, 0.9, 0)
    raised = detection.shifted({"out": rows}, 0.1)["out"]
    assert raised[0, :4, 0].tolist() == [10, 10, 8, 8]
    assert raised[0, 4:, 0].tolist() == pytest.approx([1.0, 0.1])
    assert detection.score_error({"out": raised}, {"out": rows}) == pytest.approx(0.1)
    listed = np.array([[[0, 0, 1, 1, 0.5, 3], [0, 0, 1, 1, 0.0, 3]]], dtype=np.float32)
    assert detection.shifted({"out": listed}, 0.25)["out"][0, 0].tolist() == [0, 0, 1, 1, 0.75, 3]
    nothing = np.zeros((1, 1, 8, 8), dtype=np.float32)
    assert detection.score_error({"map": nothing}, {"map": nothing + 0.01}) == 0.0
    assert detection.score_error({"out": rows}, {"out": rows[:, :, :1]}) == 0.0
