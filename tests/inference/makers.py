"""Small networks and clips for tests: made here, different in nothing but what a test asks for."""

from __future__ import annotations

import tempfile
from collections.abc import Iterator
from functools import lru_cache
from pathlib import Path
from typing import Any

import av
import cv2
import numpy as np
import numpy.typing as npt
import onnx
from onnx import TensorProto, helper

from apps.access.core.callers import Caller
from apps.inference import services
from apps.inference.core import inspection
from apps.inference.models import Network
from apps.inference.services import networks, storage

Image = npt.NDArray[np.uint8]
HEIGHT, WIDTH = 64, 96


def _tensor(rng: Any, *shape: int) -> Any:
    values = rng.normal(size=shape) / float(max(1, np.prod(shape[1:]))) ** 0.5
    return onnx.numpy_helper.from_array(values.astype(np.float32), f"w{'x'.join(map(str, shape))}")


def _model(nodes: list[Any], weights: list[Any], output: list[Any], size: list[Any], opset: str = "") -> bytes:
    graph = helper.make_graph(
        nodes,
        "net",
        [helper.make_tensor_value_info("image", TensorProto.FLOAT, size)],
        [helper.make_tensor_value_info("out", TensorProto.FLOAT, output)],
        weights,
    )
    imports = [helper.make_opsetid("", 17), *([helper.make_opsetid(opset, 1)] if opset else [])]
    return bytes(helper.make_model(graph, opset_imports=imports, ir_version=8).SerializeToString())


def classifier(seed: int = 0, *, free: bool = False, classes: int = 5) -> bytes:
    """Three convolutions, a global pool and a linear layer."""
    rng = np.random.default_rng(seed)
    weights = [_tensor(rng, 8, 3, 3, 3), _tensor(rng, 12, 8, 3, 3), _tensor(rng, 8, 12, 1, 1), _tensor(rng, classes, 8)]
    one, two, three, last = (w.name for w in weights)
    nodes = [
        helper.make_node("Conv", ["image", one], ["a"], pads=[1, 1, 1, 1], strides=[2, 2], name="first"),
        helper.make_node("Relu", ["a"], ["b"], name="relu"),
        helper.make_node("Conv", ["b", two], ["c"], pads=[1, 1, 1, 1], name="second"),
        helper.make_node("Conv", ["c", three], ["d"], name="third"),
        helper.make_node("GlobalAveragePool", ["d"], ["e"], name="pool"),
        helper.make_node("Flatten", ["e"], ["f"], name="flat"),
        helper.make_node("Gemm", ["f", last], ["out"], transB=1, name="head"),
    ]
    size = [1, 3, "h", "w"] if free else [1, 3, HEIGHT, WIDTH]
    return _model(nodes, weights, [1, classes], size)


def detector() -> bytes:
    """A map of what is bright: a text detector's shape, with nothing learnt."""
    weight = onnx.numpy_helper.from_array(np.full((1, 3, 3, 3), 2.0, dtype=np.float32), "w")
    bias = onnx.numpy_helper.from_array(np.array([-36.0], dtype=np.float32), "b")
    nodes = [
        helper.make_node("Conv", ["image", "w", "b"], ["a"], pads=[1, 1, 1, 1], name="conv"),
        helper.make_node("Sigmoid", ["a"], ["out"], name="sigmoid"),
    ]
    return _model(nodes, [weight, bias], [1, 1, HEIGHT, WIDTH], [1, 3, HEIGHT, WIDTH])


def pictures(count: int, *, width: int = 192, height: int = 128, seed: int = 3) -> Iterator[Image]:
    """A still noisy room in which a bright square stands here and there in turn, three frames each."""
    rng = np.random.default_rng(seed)
    room = rng.integers(20, 160, size=(height, width, 3), dtype=np.uint8)
    for number in range(count):
        image = room.copy()
        at = 8 * (number // 3 % 2)
        cv2.rectangle(image, (at, 40), (at + 24, 64), (255, 255, 255), -1)
        yield image


def clip(path: Path, count: int = 30, *, width: int = 192, height: int = 128, seed: int = 3) -> Path:
    """A lossless video of `pictures`."""
    with av.open(str(path), "w", format="matroska") as container:
        stream: Any = container.add_stream("ffv1", rate=25)
        stream.width, stream.height, stream.pix_fmt = width, height, "bgr0"
        container.start_encoding()
        for image in pictures(count, width=width, height=height, seed=seed):
            container.mux(stream.encode(av.VideoFrame.from_ndarray(image, format="rgb24").reformat(format="bgr0")))
        container.mux(stream.encode())
    return path


def sound(path: Path) -> Path:
    """A second of silence, and no picture."""
    with av.open(str(path), "w", format="wav") as container:
        stream: Any = container.add_stream("pcm_s16le", rate=8000, layout="mono")
        frame = av.AudioFrame.from_ndarray(np.zeros((1, 8000), dtype=np.int16), format="s16", layout="mono")
        frame.sample_rate = 8000
        container.mux(stream.encode(frame))
        container.mux(stream.encode())
    return path


def png(image: Image) -> bytes:
    """A picture as a client posts it."""
    return bytes(cv2.imencode(".png", image[..., ::-1])[1].tobytes())


def network(caller: Caller, name: str = "small", *, task: str = "classification", seed: int = 0) -> Network:
    """A registered network; its check is known from the first time, since each one starts a process."""
    data = detector() if task == "detection" else classifier(seed)
    labels = ["a", "b", "c", "d", "e"] if task == "classification" else ["bright"]
    facts = services.Facts(name, purpose=task, labels=labels)
    kept = storage.keep([data], caller.workspace_id, "models", ".onnx", 2**20)
    return networks._registered(caller, facts, kept, _found(task))


@lru_cache
def _found(task: str) -> inspection.Found:
    with tempfile.NamedTemporaryFile(suffix=".onnx") as file:
        file.write(detector() if task == "detection" else classifier())
        file.flush()
        return inspection.inspect(Path(file.name))


def form(file: bytes, filename: str = "clip.mkv", /, **fields: Any) -> tuple[bytes, str]:
    """A multipart body with a file, and its content type."""
    edge = "edge-of-a-part"
    parts = [
        f'--{edge}\r\nContent-Disposition: form-data; name="{key}"\r\n\r\n{value}\r\n'.encode()
        for key, value in fields.items()
    ]
    head = f'--{edge}\r\nContent-Disposition: form-data; name="file"; filename="{filename}"\r\n'
    parts.append(head.encode() + b"Content-Type: application/octet-stream\r\n\r\n" + file + b"\r\n")
    return b"".join(parts) + f"--{edge}--\r\n".encode(), f"multipart/form-data; boundary={edge}"
