"""What the analysis says of a network before it runs."""

import json
from dataclasses import asdict

import numpy as np
import pytest
from onnx import helper

from apps.inference.core import engine, graph
from apps.inference.core.network.layers import Kind
from apps.inference.core.network.lowering import lower
from tests.inference.core.networks import Net


def _net(layers: int, tail: bool = False) -> graph.Graph:
    net = Net(0, maps=[("image", 3, 64, 64)])
    for at in range(layers):
        channels = 3 if at == 0 else 4
        weight = net.constant(net.rng.normal(size=(4, channels, 3, 3)))
        net.node("Conv", [net.maps[-1][0], weight], (4, 64, 64), pads=[1] * 4)
    out = net.maps[-1][0]
    if tail:
        net.nodes += [
            helper.make_node("GlobalAveragePool", [out], ["p"], name="gap"),
            helper.make_node("Mul", [out, "p"], ["scaled"], name="excite"),
        ]
        out = "scaled"
    return graph.load(net.model([out]))


def test_work_grows_with_the_dirty_share_and_with_depth() -> None:
    shallow, deep = (graph.analyse(_net(n), 64, 64) for n in (1, 8))
    for found in (shallow, deep):
        work = [s.work for s in found.shares]
        assert work == sorted(work)
        assert [s.dirty for s in found.shares] == [0.005, 0.05, 0.2]
    assert deep.shares[0].work > 2 * shallow.shares[0].work
    assert "erosion" in deep.verdict
    assert f"{deep.shares[0].work:.0%}" in deep.verdict


def test_erosion_adds_up_layer_by_layer() -> None:
    grown = [n.erosion for n in graph.analyse(_net(3), 64, 64).nodes]
    assert grown == [(1.0, 1.0), (2.0, 2.0), (3.0, 3.0)]


def test_squeeze_excite_starts_the_dense_tail_and_the_page_says_why() -> None:
    found = graph.analyse(_net(2, tail=True), 64, 64)
    assert found.tail_index == 2
    assert "GlobalAveragePool" in found.tail_why
    assert [n.reuse for n in found.nodes] == ["spatial", "spatial", "dense", "dense"]
    assert "dense tail" in found.verdict


def test_the_analysis_is_plain_data() -> None:
    found = graph.analyse(_net(2, tail=True), 64, 64)
    again = json.loads(json.dumps(found.as_json()))
    assert again["verdict"] == found.verdict
    assert again["cache_bytes"] == found.cache_bytes > 0
    assert asdict(found).keys() == again.keys()


def test_batch_normalisation_activation_and_sum_run_in_the_convolution() -> None:
    net = Net(0, maps=[("image", 4, 16, 16)])
    rows = [net.constant(np.full(4, v)) for v in (1.5, 0.2, 0.1, 2.0)]
    net.node("Conv", ["image", net.constant(net.rng.normal(size=(4, 4, 1, 1)))], (4, 16, 16))
    net.node("Conv", ["t0", net.constant(net.rng.normal(size=(4, 4, 3, 3)))], (4, 16, 16), pads=[1] * 4)
    net.node("BatchNormalization", ["t1", *rows], (4, 16, 16))
    net.node("Add", ["t2", "t0"], (4, 16, 16))
    net.node("Relu", ["t3"], (4, 16, 16))
    network = lower(graph.load(net.model(["t4"])), 16, 16)
    assert [layer.kind for layer in network.layers] == [Kind.CONV, Kind.CONV]
    assert network.layers[1].residual == 1


def test_explicit_padding_is_folded() -> None:
    net = Net(0, maps=[("image", 3, 16, 16)])
    net.node("Pad", ["image", net.constant([0, 0, 0, 1, 0, 0, 2, 1], np.int64)], (3, 18, 18))
    net.node("Conv", ["t0", net.constant(net.rng.normal(size=(4, 3, 3, 3)))], (4, 16, 16))
    loaded = graph.load(net.model(["t1"]))
    assert lower(loaded, 16, 16).layers[0].pads == (0, 1, 2, 1)
    cached, plain = engine.Engine(loaded, 16, 16), engine.PlainEngine(loaded, 16, 16)
    image = np.random.default_rng(0).normal(size=(1, 3, 16, 16)).astype(np.float32)
    assert engine.relative_error(cached.frame(image).outputs, plain.frame(image)) <= 1e-5


def test_a_split_is_spatial() -> None:
    net = Net(0, maps=[("image", 3, 16, 16)])
    net.node("Conv", ["image", net.constant(net.rng.normal(size=(6, 3, 1, 1)))], (6, 16, 16))
    net.nodes.append(helper.make_node("Split", ["t0", net.constant([2, 4], np.int64)], ["a", "b"], axis=1, name="cut"))
    net.nodes.append(helper.make_node("Relu", ["b"], ["c"], name="relu"))
    loaded = graph.load(net.model(["a", "c"]))
    cached = engine.Engine(loaded, 16, 16, engine.Settings(bail_out_share=2.0, block=4))
    plain = engine.PlainEngine(loaded, 16, 16)
    image = np.random.default_rng(0).normal(size=(1, 3, 16, 16)).astype(np.float32)
    cached.frame(image)
    image = image.copy()
    image[:, :, 3:5, 3:5] += 1
    got = cached.frame(image)
    assert got.outcome == "partial"
    assert engine.relative_error(got.outputs, plain.frame(image)) <= 1e-5


@pytest.mark.parametrize("share", [0.005, 0.2])
def test_predicted_work_is_the_work_that_is_done(share: float) -> None:
    loaded = _net(4)
    cached = engine.Engine(loaded, 64, 64, engine.Settings(bail_out_share=2.0, block=4))
    image = np.random.default_rng(0).integers(0, 256, size=(64, 64, 3), dtype=np.uint8)
    cached.frame(image)
    image = image.copy()
    image[8 : 8 + int(64 * share**0.5), 8 : 8 + int(64 * share**0.5)] ^= 3
    grid = cached.frame(image)
    assert grid.work_share == pytest.approx(cached.features.stream.masks.share())
