"""What becomes of a frame: reused, partial or dense, and why."""

import numpy as np
import pytest

from apps.inference.core import blocks, engine, graph
from tests.inference.core.networks import Net

H, W = 64, 96
ALWAYS = {"bail_out_share": 2.0}
NEVER = {"bail_out_share": 0.0, "scene_cut": 1.1}


@pytest.fixture(scope="module")
def model() -> engine.Model:
    net = Net(2, maps=[("image", 3, H, W)])
    for inputs, outputs in ((3, 8), (8, 16)):
        weight = net.constant(net.rng.normal(size=(outputs, inputs, 3, 3)) / np.sqrt(9 * inputs))
        net.node("Conv", [net.maps[-1][0], weight], (outputs, H, W), pads=[1] * 4)
        net.node("Relu", [net.maps[-1][0]], (outputs, H, W))
    return engine.Model(graph.load(net.model([net.maps[-1][0]])), H, W)


def _engine(model: engine.Model, **settings: object) -> engine.Engine:
    return engine.Engine(model, H, W, engine.Settings(**settings))  # type: ignore[arg-type]


def _image(seed: int = 0) -> blocks.Bytes:
    return np.random.default_rng(seed).integers(0, 256, size=(H, W, 3), dtype=np.uint8)


def _touched(image: blocks.Bytes, top: int = 20, left: int = 40) -> blocks.Bytes:
    image = image.copy()
    image[top : top + 4, left : left + 4] ^= 7
    return image


def test_the_first_frame_is_dense_and_an_equal_one_is_reused(model: engine.Model) -> None:
    cached = _engine(model)
    assert (cached.frame(_image()).outcome, cached.frame(_image()).outcome) == ("dense", "reused")


def test_a_small_change_is_partial_and_says_where(model: engine.Model) -> None:
    cached = _engine(model, **ALWAYS)
    cached.frame(_image())
    got = cached.frame(_touched(_image()))
    assert got.outcome == "partial"
    assert got.recompute.sum() == 1
    assert got.recompute[1, 2] == 1
    assert 0 < got.work_share < 0.2
    assert got.dirty_share == pytest.approx(1 / 24)
    assert cached.reuse_map()[1, 2] == pytest.approx(1.0, abs=0.01)
    assert cached.reuse_map()[3, 5] == 0


def test_a_bail_out_leaves_the_cache_and_its_reference_alone(model: engine.Model) -> None:
    cached = _engine(model, **NEVER)
    cached.frame(_image())
    got = cached.frame(_image(1))
    assert (got.outcome, got.bail_out, got.reason) == ("dense", True, "bail-out")
    assert cached.frame(_image()).outcome == "reused"


def test_after_a_bail_out_a_return_with_a_small_change_is_partial_and_exact(model: engine.Model) -> None:
    cached = _engine(model, bail_out_share=0.5, scene_cut=1.1)
    cached.frame(_image())
    assert cached.frame(_image(1)).bail_out
    image = _touched(_image())
    got = cached.frame(image)
    assert got.outcome == "partial"
    assert engine.relative_error(got.outputs, model.plain.frame(image)) <= 1e-5


def test_expiry_forces_a_full_run_every_k_frames(model: engine.Model) -> None:
    cached = _engine(model, expiry=3)
    outcomes = [cached.frame(_image()) for _ in range(7)]
    assert [r.reason for r in outcomes] == ["first", "", "", "expiry", "", "", "expiry"]


def test_a_scene_cut_makes_the_cache_anew(model: engine.Model) -> None:
    cached = _engine(model, bail_out_share=0.5)
    cached.frame(_image())
    assert cached.frame(255 - _image()).reason == "scene cut"
    assert cached.frame(255 - _image()).outcome == "reused"


def test_a_scene_that_settles_elsewhere_makes_the_cache_anew(model: engine.Model) -> None:
    cached = _engine(model, bail_out_share=0.5, scene_cut=1.1)
    cached.frame(_image())
    reasons = [cached.frame(_image(1)).reason for _ in range(3)]
    assert reasons == ["bail-out", "settled", ""]


def test_after_tightening_nothing_is_reused_until_the_cache_is_made_anew(model: engine.Model) -> None:
    cached = _engine(model, mode="budget", bail_out_share=0.9)
    cached.frame(_image())
    assert cached.frame(_image()).outcome == "reused"
    cached.tighten(engine.Settings(mode="budget", bail_out_share=0.9, psnr_db=60.0, eps=0.0))
    seen = [cached.frame(image) for image in (_image(), _touched(_image()), _touched(_image()))]
    assert [(each.outcome, each.reason) for each in seen] == [
        ("dense", "bail-out"),
        ("dense", "settled"),
        ("reused", ""),
    ]
    assert engine.relative_error(seen[2].outputs, cached.shadow(_touched(_image()))) <= 1e-5


def test_a_new_cache_after_tightening_waits_until_it_can_be_paid_for(model: engine.Model) -> None:
    cached = _engine(model, mode="budget")
    cached.frame(_image())
    cached.tighten(engine.Settings(mode="budget", psnr_db=60.0))
    cached.pace.credit = 0.0
    cached.pace.plain_ms, cached.pace.dense_ms = 1000.0, 1500.0
    assert {cached.frame(image).reason for image in (_image(), _touched(_image()), _image())} == {"bail-out"}
    cached.pace.credit = 2.0
    assert cached.frame(_touched(_image())).reason == "settled"


def test_a_stream_that_rests_makes_its_cache_anew_when_it_explores(model: engine.Model) -> None:
    cached = _engine(model, mode="budget", bail_out_share=0.9)
    cached.frame(_image())
    cached._rest = 256  # earlier caches did not pay
    elsewhere = _image(1)
    assert {cached.frame(elsewhere).reason for _ in range(5)} == {"bail-out"}
    cached.pace.credit = 2.0
    assert not cached.would_pay(elsewhere, 40.0)
    cached.keep(elsewhere)
    assert cached.would_pay(_touched(elsewhere), 40.0)
    cached.explore(cached.settings)
    assert cached.frame(_touched(elsewhere)).reason == "settled"


def test_an_outcome_of_a_frame_of_another_size_is_an_error(model: engine.Model) -> None:
    cached = _engine(model)
    cached.frame(_image())
    with pytest.raises(engine.FrameError, match="the frame is"):
        cached.frame(np.zeros((H, W + 1, 3), dtype=np.uint8))
    with pytest.raises(engine.FrameError, match="float64"):
        cached.frame(np.zeros((H, W, 3)))
    assert cached.frame(_image()).outcome == "reused"


def test_a_frame_handed_over_may_be_overwritten_by_its_owner(model: engine.Model) -> None:
    cached = _engine(model, **ALWAYS)
    shared = _image()
    cached.frame(shared)
    shared[:] = _image(5)
    got = cached.frame(shared)
    assert engine.relative_error(got.outputs, model.plain.frame(_image(5))) <= 1e-5


def test_two_streams_of_one_model_do_not_disturb_each_other(model: engine.Model) -> None:
    one, two = _engine(model, **ALWAYS), _engine(model, **ALWAYS)
    for seed in (0, 1, 2):
        first, second = _image(seed), _touched(_image(seed + 10))
        assert engine.relative_error(one.frame(first).outputs, model.plain.frame(first)) <= 1e-5
        assert engine.relative_error(two.frame(second).outputs, model.plain.frame(second)) <= 1e-5


def test_budget_ignores_what_is_below_its_threshold_and_does_not_drift(model: engine.Model) -> None:
    cached = _engine(model, mode="budget", psnr_db=40.0, eps=0.0, **ALWAYS)
    image = np.full((H, W, 3), 100, dtype=np.uint8)
    cached.frame(image)
    outcomes = []
    for step in range(1, 9):
        outcomes.append(cached.frame(image + np.uint8(step)).outcome)
    # PSNR of a uniform difference of 2 is 42 dB, of 3 it is 38.6: the reference moves only when blocks are recomputed.
    assert outcomes == ["reused", "reused", "partial", "reused", "reused", "partial", "reused", "reused"]


def test_truncation_bounds_the_error_of_a_frame(model: engine.Model) -> None:
    errors = []
    for eps in (0.0, 0.05, 0.5):
        cached = _engine(model, mode="budget", psnr_db=60.0, eps=eps, **ALWAYS)
        cached.frame(_image())
        image = _touched(_image())
        errors.append(engine.relative_error(cached.frame(image).outputs, model.plain.frame(image)))
    assert errors[0] <= 1e-5
    assert errors[1] <= errors[2] <= 0.3


def test_the_memory_of_a_stream_is_what_the_analysis_promises(model: engine.Model) -> None:
    promised = graph.analyse(model.graph, H, W).cache_bytes
    cached = _engine(model)
    cached.frame(_image())
    assert cached.memory_bytes() == pytest.approx(promised, rel=0.1)


@pytest.mark.parametrize("bad", [{"mode": "fast"}, {"block": 2}, {"eps": -1.0}, {"expiry": -1}])
def test_settings_that_make_no_sense_are_refused(bad: dict[str, object]) -> None:
    with pytest.raises(ValueError, match="settings"):
        engine.Settings(**bad)  # type: ignore[arg-type]
