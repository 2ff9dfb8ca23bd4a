"""A run of frames through one network, as jobs and streams use it, and what is read and drawn from it."""

from __future__ import annotations

from pathlib import Path

import cv2
import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.extra import numpy as arrays

from apps.inference.core import drawing, labels, pictures, readings, reports, summing, tracks
from apps.inference.core.tracks import Plan, Recipe, Seen, Track
from tests.inference import makers


def recipe(folder: Path, task: str = "classification") -> Recipe:
    path = folder / f"{task}.onnx"
    path.write_bytes(makers.detector() if task == "detection" else makers.classifier())
    return Recipe(str(path), makers.HEIGHT, makers.WIDTH, (0.0,) * 3, (1.0,) * 3, task, tuple("abcde"))


def run(track: Track, count: int) -> list[Seen]:
    images = makers.pictures(count, width=makers.WIDTH, height=makers.HEIGHT)
    return [track.frame(image, (192, 128)) for image in images]


def test_frames_that_do_not_change_are_reused_and_shadow_runs_agree(tmp_path: Path) -> None:
    seen = run(Track(recipe(tmp_path), Plan(every=2)), 3)
    assert [each.outcome for each in seen] == ["dense", "reused", "reused"]
    assert [each.agreement for each in seen] == [1.0, None, 1.0]
    assert [each.plain_ms is None for each in seen] == [False, True, False]
    assert seen[0].result == seen[1].result == seen[2].result
    assert (seen[0].grid & 127).min() == 127 and not seen[1].grid.any()


def test_without_shadow_runs_nothing_is_measured_and_calibration_is_off(tmp_path: Path) -> None:
    track = Track(recipe(tmp_path), Plan(mode="budget", every=0))
    assert {each.agreement for each in run(track, 7)} == {None}
    assert track.rung is None


def test_calibration_goes_on_from_where_it_was(tmp_path: Path) -> None:
    assert Track(recipe(tmp_path), Plan(mode="budget"), rung=7).rung == 7
    assert Track(recipe(tmp_path), Plan(mode="budget", psnr_db=40.0), rung=7).rung is None


def test_a_reset_track_begins_dense(tmp_path: Path) -> None:
    track = Track(recipe(tmp_path), Plan())
    run(track, 2)
    track.reset()
    assert run(track, 1)[0].outcome == "dense"


@given(arrays.arrays(np.uint8, arrays.array_shapes(min_dims=2, max_dims=2, max_side=200)))
def test_grids_come_back_as_they_were_packed(grid: tracks.Image) -> None:
    assert np.array_equal(tracks.unpacked(tracks.packed(grid)), grid)


@given(st.lists(st.floats(-50, 50, width=32), min_size=1, max_size=30))
def test_the_best_classes_are_probabilities_in_order(values: list[float]) -> None:
    top = readings.classes(np.array([values], dtype=np.float32), ["zero"])
    scores = [each["score"] for each in top]
    assert scores == sorted(scores, reverse=True)
    assert min(scores) >= 0 and sum(scores) <= 1.001
    assert all(each["label"] == ("zero" if each["class"] == 0 else str(each["class"])) for each in top)


def test_outputs_that_are_probabilities_already_stay_what_they_are() -> None:
    top = readings.classes(np.array([[0.2, 0.7, 0.1]], dtype=np.float32), [])
    assert [(each["class"], each["score"]) for each in top] == [(1, 0.7), (0, 0.2), (2, 0.1)]


def test_broken_numbers_are_told_as_numbers() -> None:
    told = readings.summary(np.array([np.nan, np.inf, -np.inf, 1.0], dtype=np.float32))
    assert all(np.isfinite(value) for value in [*told["values"], told["min"], told["max"]])
    assert readings.classes(np.array([[np.nan, 1.0]], dtype=np.float32), [])[0]["class"] == 1


def test_statistics_of_no_frames_are_zeros_and_nothing() -> None:
    stats = summing.Tape().stats()
    assert (stats["frames"], stats["bail_outs"], stats["speedup"], stats["agreement"]) == (0, 0, None, None)


def test_the_speed_up_counts_every_frame() -> None:
    tape = summing.Tape()
    tape.add("dense", 1.0, 30.0, 20.0, 1.0, False)
    tape.add("reused", 0.0, 1.0, None, None, False)
    tape.add("partial", 0.5, 5.0, 20.0, 0.5, False)
    stats = tape.stats()
    assert stats["speedup"] == pytest.approx(20 / 12, abs=1e-3)
    assert stats["work_share"] == 0.5


def test_a_comparison_stands_for_the_frames_since_the_one_before() -> None:
    found = summing.Agreement()
    for outcome, agreed in (("dense", None), ("partial", None), ("reused", None), ("partial", None)):
        found.add(outcome, agreed)
        assert found.value is None
    found.add("partial", 0.5)
    assert found.value == (1 + 4 * 0.5) / 5
    found.add("partial", 1.0)
    found.add("dense", None)
    found.add("partial", None)
    assert found.value == (1 + 4 * 0.5 + 1 + 1) / 7


@given(st.lists(st.tuples(st.sampled_from(["dense", "partial", "reused"]), st.none() | st.floats(0, 1))))
def test_agreement_is_a_share_whatever_comes(frames: list[tuple[str, float | None]]) -> None:
    found = summing.Agreement()
    for outcome, agreed in frames:
        found.add(outcome, agreed)
    assert found.value is None or 0 <= found.value <= 1 + 1e-9


@given(st.binary(max_size=200))
def test_no_bytes_break_the_reading_of_a_pictures_size(data: bytes) -> None:
    for head in (b"", b"\x89PNG\r\n\x1a\n", b"\xff\xd8\xff"):
        try:
            width, height = pictures.size_of(head + data)
        except pictures.PictureError:
            continue
        assert width > 0 and height > 0


def test_pictures_tell_their_size_before_they_are_decoded() -> None:
    image = next(makers.pictures(1, width=90, height=70))
    written = cv2.imencode(".jpg", image)[1].tobytes()
    for data in (makers.png(image), written):
        assert pictures.size_of(data) == (90, 70)
        assert pictures.decode(data).shape == (70, 90, 3)
    assert np.array_equal(pictures.decode(makers.png(image)), image)
    bomb = b"\x89PNG\r\n\x1a\n\0\0\0\rIHDR" + (60_000).to_bytes(4, "big") * 2
    with pytest.raises(pictures.PictureError, match="60000x60000"):
        pictures.decode(bomb)


def test_a_thumbnail_has_the_videos_proportions() -> None:
    data = drawing.thumbnail(np.zeros((64, 64, 3), dtype=np.uint8), (1280, 720))
    assert pictures.size_of(data) == (320, 180)


def test_the_report_escapes_what_strangers_named() -> None:
    point = reports.Point(0, "dense", 3.0, 4.0, 1.0, 1.0, 1.0, False)
    page = reports.page("<script>x</script>", "a & b", summing.Tape().stats(), [point], [], "<b>")
    assert "<script>" not in page and "&lt;b&gt;" in page and "a &amp; b" in page


def test_the_class_names_of_imagenet_are_there() -> None:
    names = labels.imagenet()
    assert len(names) == 1000 and names[1] == "goldfish" and "tabby" in names[281]
