"""Exact mode equals the plain run on every frame, whatever the network and whatever changes."""

from typing import Any

import numpy as np
import pytest
from hypothesis import HealthCheck, event, given, settings
from hypothesis import strategies as st

from apps.inference.core import engine, graph
from tests.inference.core import networks

LIMIT = 1e-5
_SLOW = settings(max_examples=120, deadline=None, suppress_health_check=list(HealthCheck))


def _floats(rng: np.random.Generator, c: int, h: int, w: int) -> Any:
    return rng.normal(size=(1, c, h, w)).astype(np.float32)


@_SLOW
@given(net=networks.networks(), data=st.data(), block=st.sampled_from([4, 7, 16]))
def test_any_network_gives_the_plain_result_on_every_frame(net: Any, data: st.DataObject, block: int) -> None:
    model, c, h, w = net
    loaded = graph.load(model)
    cached = engine.Engine(loaded, h, w, engine.Settings(block=block, bail_out_share=2.0))
    plain = engine.PlainEngine(loaded, h, w)
    rng = np.random.default_rng(7)
    image = _floats(rng, c, h, w)
    for _ in range(4):
        got = cached.frame(image)
        event(got.outcome)
        assert engine.relative_error(got.outputs, plain.frame(image)) <= LIMIT
        image = image.copy()
        for top, left, high, wide in data.draw(networks.changes(h, w)):
            image[:, :, top : top + high, left : left + wide] = rng.normal(size=(1, c, high, wide))


@_SLOW
@given(net=networks.networks(), data=st.data())
def test_a_frame_of_bytes_gives_the_plain_result(net: Any, data: st.DataObject) -> None:
    model, c, h, w = net
    loaded = graph.load(model)
    pixels = engine.Pixels((0.5,) * c, (0.25,) * c)
    cached = engine.Engine(loaded, h, w, engine.Settings(bail_out_share=2.0, block=8), pixels)
    plain = engine.PlainEngine(loaded, h, w, pixels)
    rng = np.random.default_rng(3)
    image = rng.integers(0, 256, size=(h, w, c), dtype=np.uint8)
    for _ in range(3):
        assert engine.relative_error(cached.frame(image).outputs, plain.frame(image)) <= LIMIT
        image = image.copy()
        for top, left, high, wide in data.draw(networks.changes(h, w)):
            image[top : top + high, left : left + wide] = rng.integers(0, 256, size=(high, wide, c))


@_SLOW
@given(net=networks.networks(cancelling=False), data=st.data(), move=st.booleans())
def test_a_budget_of_nothing_is_exact_too(net: Any, data: st.DataObject, move: bool) -> None:
    """With equal blocks only and no tolerance, truncation stops what did not change and nothing else.

    Where class scores cancel, onnxruntime and the engine each lie up to 1e-5 from the sum in double precision; the
    exact mode sees that and runs plain, the budget mode has no need to.
    """
    model, c, h, w = net
    loaded = graph.load(model)
    chosen = engine.Settings(mode="budget", psnr_db=np.inf, eps=0.0, bail_out_share=2.0, block=5, motion=move)
    cached = engine.Engine(loaded, h, w, chosen, engine.Pixels((0.5,) * c, (0.25,) * c))
    rng = np.random.default_rng(11)
    image = rng.integers(0, 256, size=(h, w, c), dtype=np.uint8)
    for _ in range(4):
        assert engine.relative_error(cached.frame(image).outputs, cached.shadow(image)) <= LIMIT
        image = image.copy()
        for top, left, high, wide in data.draw(networks.changes(h, w)):
            image[top : top + high, left : left + wide] = rng.integers(0, 256, size=(high, wide, c))


@pytest.mark.parametrize("mode", ["exact", "budget"])
def test_an_output_that_sees_only_padding_is_its_bias(mode: Any) -> None:
    """Two taps, a row above and a row below the one row there is."""
    net = networks.Net(1, maps=[("image", 2, 1, 7)])
    net.node("Conv", ["image", net.constant(net.rng.normal(size=(2, 2, 1, 1)))], (2, 1, 7))
    weight, bias = net.constant(np.ones((3, 2, 2, 1))), net.constant([0.5, -1.0, 2.0])
    net.node("Conv", [net.maps[-1][0], weight, bias], (3, 1, 7), dilations=[2, 1], pads=[1, 0, 1, 0])
    loaded = graph.load(net.model([net.maps[-1][0]]))
    cached = engine.Engine(loaded, 1, 7, engine.Settings(mode=mode, block=4, bail_out_share=2.0))
    plain = engine.PlainEngine(loaded, 1, 7)
    image = _floats(np.random.default_rng(0), 2, 1, 7)
    for _ in range(2):
        assert engine.relative_error(cached.frame(image).outputs, plain.frame(image)) <= LIMIT
        image = image + 1


@pytest.mark.parametrize("operator", ["Add", "Sub", "Mul", "Div", "Max", "Min"])
def test_two_branches_meet_in_every_operator(operator: str) -> None:
    net = networks.Net(1, maps=[("image", 2, 17, 23)])
    for _ in range(2):
        weight = np.abs(net.rng.normal(size=(4, 2, 3, 3))) + 0.1
        net.node("Conv", ["image", net.constant(weight), net.constant(np.ones(4))], (4, 17, 23), pads=[1] * 4)
    net.node(operator, [net.maps[1][0], net.maps[2][0]], (4, 17, 23))
    loaded = graph.load(net.model([net.maps[-1][0]]))
    cached = engine.Engine(loaded, 17, 23, engine.Settings(block=4, bail_out_share=2.0))
    plain = engine.PlainEngine(loaded, 17, 23)
    image = np.abs(_floats(np.random.default_rng(0), 2, 17, 23))
    cached.frame(image)
    image = image.copy()
    image[:, :, 5:9, 6:11] += 1
    got = cached.frame(image)
    assert got.outcome == "partial"
    assert engine.relative_error(got.outputs, plain.frame(image)) <= LIMIT
