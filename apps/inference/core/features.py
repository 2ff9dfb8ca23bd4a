"""The cached features of one stream and the model they belong to: predict, update, rebuild, read the outputs."""

from functools import cached_property

import cv2
import numpy as np
import numpy.typing as npt
from threadpoolctl import threadpool_limits  # type: ignore[import-untyped]

from apps.inference.core import program
from apps.inference.core.kernels.stream import Stream, Weights
from apps.inference.core.network.layers import Kind, Network
from apps.inference.core.network.loading import Graph
from apps.inference.core.network.lowering import lower
from apps.inference.core.plain import Outputs, Pixels, PlainEngine, session
from apps.inference.core.program import Ints

Image = npt.NDArray[np.generic]


class Part:
    """A lowered network with what runs it: prepacked weights for the spatial part, a session for the dense tail."""

    def __init__(self, network: Network) -> None:
        self.network, self.weights = network, Weights(network)
        self.tail_share = network.tail_macs / max(network.macs() + network.tail_macs, 1)
        self.tail = session(network.tail.SerializeToString()) if network.tail else None

    def outputs(self, stream: Stream) -> Outputs:
        """All outputs by name from a stream's feature maps."""
        here = {self.network.tensors[i].name: stream.tensor(i) for i in self.network.boundary}
        found = {name: here[name] for name in self.network.outputs if name in here}
        if self.tail is not None:
            names = [o.name for o in self.tail.get_outputs()]
            feed = {i.name: here[i.name] for i in self.tail.get_inputs()}
            found |= dict(zip(names, self.tail.run(names, feed), strict=True))
        return {name: found[name] for name in self.network.outputs}


class Model:
    """A network at one input size, ready to run: shared by all streams of one process, one thread at a time."""

    def __init__(self, graph: Graph, height: int, width: int, pixels: Pixels | None = None) -> None:
        # One thread per process: two on busy cores stall each other for tens of milliseconds.
        threadpool_limits(1, user_api="blas")
        self.graph, self.size = graph, (height, width)
        self.network = lower(graph, height, width)
        self.pixels = pixels or Pixels((0.0,) * graph.channels, (1.0,) * graph.channels)
        self.table = self.pixels.table()
        self.plain = PlainEngine(graph, height, width, self.pixels)

    @cached_property
    def exact(self) -> Part:
        """What exact streams run."""
        return Part(self.network)

    @cached_property
    def budget(self) -> Part:
        """What budget streams run: squeeze-excite is no dense tail to them."""
        network = lower(self.graph, *self.size, gated=True)
        gated = any(layer.kind == Kind.GATE for layer in network.layers)
        return Part(network) if gated else self.exact


class Features:
    """One stream's feature maps behind the engine's four verbs."""

    def __init__(self, model: Model, *, truncating: bool) -> None:
        self.model, self.part = model, model.budget if truncating else model.exact
        self.stream = Stream(self.part.weights, truncating=truncating)
        self._shift: Ints | None = None

    def predict(self, mask: npt.NDArray[np.uint8], shift: Ints | None = None) -> float:
        """Share of work for a dirty mask of pixels; the masks stay for `update`."""
        self._shift = shift
        self.stream.masks.clear()
        self.stream.masks.mark_input(mask)
        return self.stream.masks.predict(shift)

    def update(self, image: Image, move: tuple[int, int] = (0, 0)) -> bool:
        """Compute what the last prediction marked; whether anything that leaves the spatial part changed."""
        stream = self.stream
        shift = self._shift if move != (0, 0) else None
        if shift is not None:
            shift[0] = *move, 1
            stream.move(shift)
        stream.put(image, self.model.table)
        if stream.truncating:
            stream.masks.forget()
        stream.run(known=not stream.truncating, shift=shift)
        return stream.masks.any(self.part.network.boundary)

    def rebuild(self, image: Image, eps: float) -> None:
        """Compute everything; sets the tolerances of a truncating stream."""
        self.stream.everything()
        self.stream.put(image, self.model.table)
        self.stream.run(known=True)
        if self.stream.truncating:
            self.stream.measure(eps)

    def tolerate(self, eps: float) -> None:
        """Set the tolerances anew, from the deviations that the last full run measured."""
        if self.stream.truncating:
            self.stream.tolerate(eps)

    def outputs(self) -> Outputs:
        """The network's outputs from the cached features."""
        return self.part.outputs(self.stream)

    def share(self) -> float:
        """Share of multiplications that the last run did."""
        masks = self.stream.masks
        tail = masks.tail_macs if masks.any(self.part.network.boundary) else 0
        return float(self.stream.counts @ masks.macs + tail) / max(masks.total, 1.0)

    def work_map(self, shape: tuple[int, int]) -> npt.NDArray[np.float32]:
        """Share of multiplications redone at every cell of a grid."""
        total, done = 0.0, np.zeros(shape, dtype=np.float32)
        rows = self.stream.masks.plan.layers
        for row, macs in zip(rows, self.stream.masks.macs, strict=True):
            mask = self.stream.masks.at(int(row[program.MASK_OUT])).astype(np.float32)
            weight = float(macs) * mask.size
            done += weight * np.asarray(cv2.resize(mask, shape[::-1], interpolation=cv2.INTER_AREA))
            total += weight
        return done / np.float32(max(total, 1.0))

    def nbytes(self) -> int:
        """Bytes held by this stream."""
        return self.stream.nbytes()
