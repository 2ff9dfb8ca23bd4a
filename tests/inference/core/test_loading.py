"""Networks from strangers: what is refused, and in which words."""

from pathlib import Path
from typing import Any

import numpy as np
import onnx
import pytest
from onnx import TensorProto, helper

from apps.inference.core import graph
from tests.inference.core.networks import Net


def _net(channels: int = 3) -> Net:
    net = Net(0, maps=[("image", channels, 16, 16)])
    net.node("Conv", ["image", net.constant(net.rng.normal(size=(4, channels, 3, 3)))], (4, 14, 14))
    return net


def _edited(change: Any) -> bytes:
    model = onnx.load_from_string(_net().model(["t0"]))
    change(model)
    return bytes(model.SerializeToString())


def test_a_plain_network_is_accepted() -> None:
    loaded = graph.load(_net().model(["t0"]))
    assert (loaded.channels, loaded.height, loaded.width) == (3, 16, 16)


@pytest.mark.parametrize("data", [b"", b"hello", b"\x89PNG\r\n\x1a\n" + bytes(64), bytes(1000), b"\x80\x04K\x01."])
def test_what_is_not_onnx_is_refused(data: bytes) -> None:
    with pytest.raises(graph.GraphError, match="not ONNX"):
        graph.load(data)


def test_a_truncated_file_is_refused() -> None:
    whole = _net().model(["t0"])
    for cut in range(10, len(whole) - 1, 37):
        with pytest.raises(graph.GraphError):
            graph.load(whole[:cut])


def test_a_network_without_convolution_is_refused() -> None:
    net = Net(0, maps=[("image", 3, 8, 8)])
    net.node("Relu", ["image"], (3, 8, 8))
    with pytest.raises(graph.GraphError, match="not a convolutional network"):
        graph.load(net.model(["t0"]))


def test_custom_operations_are_refused() -> None:
    def change(model: onnx.ModelProto) -> None:
        model.graph.node[0].domain = "com.evil"

    with pytest.raises(graph.GraphError, match=r"custom operations.*com\.evil::Conv"):
        graph.load(_edited(change))


def test_control_flow_is_refused() -> None:
    def change(model: onnx.ModelProto) -> None:
        body = helper.make_graph([], "body", [], [])
        model.graph.node.append(helper.make_node("Loop", ["", ""], ["x"], body=body))

    with pytest.raises(graph.GraphError, match="control flow"):
        graph.load(_edited(change))


def test_a_tensor_that_claims_two_gigabytes_is_refused_before_anything_is_allocated() -> None:
    def change(model: onnx.ModelProto) -> None:
        model.graph.initializer[0].dims[:] = [2**19, 2**10, 1, 1]

    with pytest.raises(graph.GraphError, match="claims 2147483648 bytes"):
        graph.load(_edited(change))


def test_a_tensor_that_claims_more_than_it_brings_is_refused() -> None:
    def change(model: onnx.ModelProto) -> None:
        model.graph.initializer[0].dims[0] = 5

    with pytest.raises(graph.GraphError, match="claims 540 bytes and brings 432"):
        graph.load(_edited(change))


def test_a_result_that_would_take_gigabytes_is_refused() -> None:
    net = _net()
    scales = net.constant([1, 1, 300, 300])
    net.nodes.append(helper.make_node("Resize", ["t0", "", scales], ["big"], mode="nearest"))
    net.nodes.append(helper.make_node("Resize", ["big", "", scales], ["bigger"], mode="nearest"))
    with pytest.raises(graph.GraphError, match="would take"):
        graph.analyse(graph.load(net.model(["bigger"])), 16, 16)


def _external(where: str) -> bytes:
    def change(model: onnx.ModelProto) -> None:
        tensor = model.graph.initializer[0]
        tensor.ClearField("raw_data")
        tensor.data_location = TensorProto.EXTERNAL
        tensor.external_data.add(key="location", value=where)

    return _edited(change)


def test_external_data_is_refused_in_an_upload() -> None:
    with pytest.raises(graph.GraphError, match="upload one file"):
        graph.load(_external("weights.bin"))


@pytest.mark.parametrize("where", ["../secret.bin", "/etc/passwd", "link.bin", "missing.bin"])
def test_external_data_outside_the_folder_is_refused(tmp_path: Path, where: str) -> None:
    (tmp_path / "secret.bin").write_bytes(bytes(432))
    folder = tmp_path / "model"
    folder.mkdir()
    (folder / "link.bin").symlink_to(tmp_path / "secret.bin")
    (folder / "net.onnx").write_bytes(_external(where))
    with pytest.raises(graph.GraphError, match=r"outside the model's folder|missing"):
        graph.load(folder / "net.onnx")


def test_external_data_beside_the_model_is_read(tmp_path: Path) -> None:
    (tmp_path / "w.bin").write_bytes(np.ones(108, dtype=np.float32).tobytes())
    (tmp_path / "net.onnx").write_bytes(_external("w.bin"))
    loaded = graph.load(tmp_path / "net.onnx")
    assert graph.analyse(loaded, 16, 16).macs == 108 * 14 * 14


@pytest.mark.parametrize(
    ("shape", "kind", "words"),
    [
        (["n", "c", "h", "w"], TensorProto.FLOAT, "channels"),
        ([4, 3, 16, 16], TensorProto.FLOAT, "batch 1"),
        ([1, 3, 16], TensorProto.FLOAT, "four dimensions"),
        ([1, 3, 16, 16], TensorProto.DOUBLE, "float32"),
    ],
)
def test_an_input_that_is_no_picture_is_refused(shape: list[Any], kind: int, words: str) -> None:
    def change(model: onnx.ModelProto) -> None:
        model.graph.input[0].CopyFrom(helper.make_tensor_value_info("image", kind, shape))

    with pytest.raises(graph.GraphError, match=words):
        graph.load(_edited(change))


def test_two_inputs_are_refused() -> None:
    def change(model: onnx.ModelProto) -> None:
        model.graph.input.append(helper.make_tensor_value_info("other", TensorProto.FLOAT, [1]))

    with pytest.raises(graph.GraphError, match="one image input"):
        graph.load(_edited(change))


def test_shapes_that_depend_on_pixels_are_refused() -> None:
    net = _net()
    net.nodes.append(helper.make_node("NonZero", ["t0"], ["places"]))
    model = onnx.load_from_string(net.model(["t0"]))
    model.graph.output.append(helper.make_tensor_value_info("places", TensorProto.INT64, ["rank", "count"]))
    with pytest.raises(graph.GraphError, match="dynamic shape"):
        graph.analyse(graph.load(model.SerializeToString()), 16, 16)


def test_a_size_the_network_cannot_take_is_refused() -> None:
    with pytest.raises(graph.GraphError, match="does not accept 2x2"):
        graph.analyse(graph.load(_net().model(["t0"])), 2, 2)


@pytest.mark.parametrize("size", [0, -5, 10**6])
def test_an_absurd_size_is_refused(size: int) -> None:
    with pytest.raises(graph.GraphError, match="outside"):
        graph.analyse(graph.load(_net().model(["t0"])), size, 16)
