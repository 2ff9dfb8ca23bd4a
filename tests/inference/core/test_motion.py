"""A moved picture reuses moved features where strides allow, and is exact everywhere."""

import itertools

import cv2
import numpy as np
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from apps.inference.core import blocks, engine, graph, motion, program
from tests.inference.core import networks

HEIGHT, WIDTH = 48, 64
OFFSETS = list(range(-8, 9))


def _scene(seed: int = 0) -> blocks.Bytes:
    """A smooth random picture larger than the frame, so that a diamond search can find its way."""
    noise = np.random.default_rng(seed).integers(0, 256, size=(HEIGHT + 32, WIDTH + 32, 3), dtype=np.uint8)
    smooth = cv2.GaussianBlur(noise, (0, 0), 3).astype(np.float32)
    return np.asarray((smooth - smooth.min()) * (255 / np.ptp(smooth)), dtype=np.uint8)


def _view(scene: blocks.Bytes, dy: int, dx: int) -> blocks.Bytes:
    return np.ascontiguousarray(scene[16 - dy : 16 - dy + HEIGHT, 16 - dx : 16 - dx + WIDTH])


@pytest.fixture(scope="module")
def network() -> graph.Graph:
    net = networks.Net(4, maps=[("image", 3, HEIGHT, WIDTH)])
    h, w = HEIGHT, WIDTH
    for inputs, outputs, stride in ((3, 6, 1), (6, 8, 2), (8, 8, 1), (8, 10, 2), (10, 10, 1)):
        weight = net.constant(net.rng.normal(size=(outputs, inputs, 3, 3)) / np.sqrt(9 * inputs))
        h, w = -(-h // stride), -(-w // stride)
        net.node("Conv", [net.maps[-1][0], weight], (outputs, h, w), pads=[1] * 4, strides=[stride] * 2)
        net.node("Relu", [net.maps[-1][0]], (outputs, h, w))
    return graph.load(net.model([net.maps[-1][0]]))


@pytest.mark.parametrize("dy", OFFSETS)
def test_every_offset_is_exact(network: graph.Graph, dy: int) -> None:
    scene = _scene()
    model = engine.Model(network, HEIGHT, WIDTH)
    plain = model.plain
    for dx in OFFSETS:
        cached = engine.Engine(model, HEIGHT, WIDTH, engine.Settings(motion=True, block=8, bail_out_share=2.0))
        cached.frame(_view(scene, 0, 0))
        image = _view(scene, dy, dx)
        got = cached.frame(image)
        assert engine.relative_error(got.outputs, plain.frame(image)) <= 1e-5
        after = image.copy()
        after[20:24, 30:36] ^= 1
        assert engine.relative_error(cached.frame(after).outputs, plain.frame(after)) <= 1e-5


@pytest.mark.parametrize(("dy", "dx"), [(0, 4), (4, 0), (-4, 4), (8, -8), (0, -8)])
def test_a_shift_that_all_strides_divide_is_found_and_saves_work(network: graph.Graph, dy: int, dx: int) -> None:
    scene = _scene(1)
    cached = engine.Engine(network, HEIGHT, WIDTH, engine.Settings(motion=True, block=8, bail_out_share=2.0))
    cached.frame(_view(scene, 0, 0))
    got = cached.frame(_view(scene, dy, dx))
    assert got.motion == (dy, dx)
    assert got.work_share < 0.9


def test_only_layers_whose_stride_divides_the_shift_may_move(network: graph.Graph) -> None:
    lowered = engine.Model(network, HEIGHT, WIDTH).network
    able = {move: program.shifts(lowered, move)[:, 2].tolist() for move in [(1, 1), (2, 2), (2, 1), (4, 8)]}
    assert able[(1, 1)] == [1, 1, 0, 0, 0, 0]
    assert able[(2, 2)] == [1, 1, 1, 1, 0, 0]
    assert able[(2, 1)] == [1, 1, 0, 0, 0, 0]
    assert able[(4, 8)] == [1, 1, 1, 1, 1, 1]


@settings(max_examples=80, deadline=None, suppress_health_check=list(HealthCheck))
@given(net=networks.networks(), data=st.data())
def test_any_network_is_exact_after_a_forced_shift(net: tuple[bytes, int, int, int], data: st.DataObject) -> None:
    """The region arithmetic of a shift, without the search: features move, the rest is computed again."""
    content, c, h, w = net
    loaded = graph.load(content)
    model = engine.Model(loaded, h, w)
    cached = engine.Engine(model, h, w, engine.Settings(block=4, bail_out_share=2.0))
    move = data.draw(st.tuples(st.integers(-4, 4), st.integers(-4, 4)))
    rng = np.random.default_rng(5)
    image = rng.integers(0, 256, size=(h, w, c), dtype=np.uint8)
    cached.frame(image)
    moved = np.asarray(motion.shifted(image, move))
    patch = rng.integers(0, 256, size=moved.shape, dtype=np.uint8)
    fresh = np.ones((h, w), dtype=bool)
    fresh[max(move[0], 0) : h + min(move[0], 0), max(move[1], 0) : w + min(move[1], 0)] = False
    moved[fresh] = patch[fresh]
    grid = blocks.match_exact(moved, motion.shifted(image, move), 4)
    grid = motion.uncover(grid, 4, h, w, move)
    features = cached.features
    features.predict(blocks.expand(grid, 4, h, w), program.shifts(model.network, move))
    features.update(moved, move)
    assert engine.relative_error(features.outputs(), model.plain.frame(moved)) <= 1e-5


def test_votes_far_from_the_mean_are_left_out() -> None:
    scene = _scene(2)
    before, now = _view(scene, 0, 0), _view(scene, 0, 6)
    now = now.copy()
    now[:8, :8] = 0
    grid = blocks.match_exact(now, before, 8)
    assert motion.estimate(now, before, grid, 8, 38.0) == (0, 6)


def test_every_pair_of_small_offsets_is_searched() -> None:
    scene = _scene(3)
    before = _view(scene, 0, 0)
    found = 0
    for dy, dx in itertools.product((-4, -2, 0, 2, 4), repeat=2):
        now = _view(scene, dy, dx)
        grid = blocks.match_exact(now, before, 8)
        found += motion.estimate(now, before, grid, 8, 38.0) == (dy, dx)
    assert found >= 20
