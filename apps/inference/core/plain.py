"""The plain engine: onnxruntime, one thread, whole frames; and the preparation of pixels both engines share."""

from collections.abc import Mapping
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt
import onnxruntime

from apps.inference.core.native import native
from apps.inference.core.network.loading import Graph

Floats = npt.NDArray[np.float32]
Outputs = dict[str, Floats]


class FrameError(ValueError):
    """The frame does not fit the network; the message gives both shapes."""


@dataclass(frozen=True)
class Pixels:
    """Normalisation of RGB bytes: (value / 255 - mean) / std per channel, as the model's makers trained it."""

    mean: tuple[float, ...] = (0.0, 0.0, 0.0)
    std: tuple[float, ...] = (1.0, 1.0, 1.0)

    def table(self) -> Floats:
        """Array (channels, 256): the network's input for every byte; both engines read it, so they agree to the bit."""
        value = np.arange(256, dtype=np.float64) / 255.0
        rows = [(value - m) / s for m, s in zip(self.mean, self.std, strict=True)]
        return np.ascontiguousarray(rows, dtype=np.float32)


@native("void(uint8[:,:,::1],float32[:,::1],float32[:,:,::1])")
def _planes(image, table, out):  # type: ignore[no-untyped-def]
    for y in range(image.shape[0]):
        for c in range(image.shape[2]):
            for x in range(image.shape[1]):
                out[c, y, x] = table[c, image[y, x, c]]


def session(model: bytes) -> onnxruntime.InferenceSession:
    """An onnxruntime session on one thread."""
    options = onnxruntime.SessionOptions()
    options.intra_op_num_threads = options.inter_op_num_threads = 1
    options.log_severity_level = 3
    return onnxruntime.InferenceSession(model, options, providers=["CPUExecutionProvider"])


def shape_of(image: npt.NDArray[np.generic]) -> tuple[int, ...]:
    """(channels, height, width) of a frame: bytes (height, width, channels) or floats (1, channels, height, width)."""
    if image.dtype == np.uint8 and image.ndim == 3:
        return image.shape[2], image.shape[0], image.shape[1]
    if image.dtype == np.float32 and image.ndim == 4 and image.shape[0] == 1:
        return image.shape[1:]
    raise FrameError(f"a frame is uint8 (h, w, c) or float32 (1, c, h, w), not {image.dtype} {image.shape}")


class PlainEngine:
    """The whole network on every frame."""

    def __init__(self, graph: Graph, height: int, width: int, pixels: Pixels | None = None) -> None:
        self.graph, self.size = graph, (graph.channels, height, width)
        self.session = session(graph.at(height, width).SerializeToString())
        self.names = [o.name for o in self.session.get_outputs()]
        self._table = (pixels or Pixels((0.0,) * graph.channels, (1.0,) * graph.channels)).table()
        self._planes = np.zeros((1, *self.size), dtype=np.float32)

    def frame(self, image: npt.NDArray[np.generic]) -> Outputs:
        """All outputs by name; FrameError when the image has another size."""
        if shape_of(image) != self.size:
            raise FrameError(f"the network takes (c, h, w) = {self.size}, the frame is {shape_of(image)}")
        if image.dtype == np.uint8:
            _planes(np.ascontiguousarray(image), self._table, self._planes[0])
            feed = self._planes
        else:
            feed = image.astype(np.float32, copy=False)
        return dict(zip(self.names, self.session.run(self.names, {self.graph.input_name: feed}), strict=True))


def relative_error(ours: Mapping[str, Floats], plain: Mapping[str, Floats]) -> float:
    """Largest absolute difference over the largest absolute plain value, the worst output."""
    worst = 0.0
    for name, value in plain.items():
        scale = float(np.max(np.abs(value), initial=0.0)) or 1.0
        worst = max(worst, float(np.max(np.abs(ours[name] - value), initial=0.0)) / scale)
    return worst
