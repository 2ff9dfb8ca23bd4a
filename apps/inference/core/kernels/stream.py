"""The feature maps of one stream and the operations on them, for Python."""

import numpy as np
import numpy.typing as npt

from apps.inference.core import regions
from apps.inference.core.kernels import maps, running, storage, winograd
from apps.inference.core.network.layers import Network
from apps.inference.core.program import BIAS, TILES, WEIGHT, Ints, axes_of, layer_table

Floats = npt.NDArray[np.float32]
_COLS = 2**21
_OUT = 2**19


class Scratch:
    """Space for one chunk of work and for lists of positions; shared, since a model runs one stream at a time."""

    def __init__(self, network: Network) -> None:
        most = max(t.height * t.width for t in network.tensors) + 1
        self.ys, self.xs = np.zeros(most, dtype=np.int32), np.zeros(most, dtype=np.int32)
        self.tile_ys, self.tile_xs = np.zeros(most, dtype=np.int32), np.zeros(most, dtype=np.int32)
        widest = max(layer.channels for layer in network.layers)
        deep = [lay for lay in network.layers if lay.weight is not None]
        deepest = max([1, *(lay.kernel[0] * lay.kernel[1] * network.tensors[lay.inputs[0]].channels for lay in deep)])
        self.cols: Floats = np.zeros(max(_COLS, 2 * (deepest + widest)), dtype=np.float32)
        self.out: Floats = np.zeros(max(_OUT, 2 * widest), dtype=np.float32)
        for array in (self.cols, self.out, self.ys, self.xs):
            array.fill(0)


class Weights:
    """Prepacked parameters of a network, shared by all its streams."""

    def __init__(self, network: Network) -> None:
        self.network = network
        self.layers: Ints = layer_table(network)
        self.axes = axes_of(network, self.layers)
        self.tensors, self.arena_size = storage.tensor_table(network)
        self.params: Floats = np.array([layer.act_params for layer in network.layers], dtype=np.float32)
        # The first floats are zero: the bias of layers that have none.
        at = max(layer.channels for layer in network.layers)
        parts: list[Floats] = [np.zeros(at, dtype=np.float32)]
        for row, layer in zip(self.layers, network.layers, strict=True):
            tiled = winograd.weights(layer) if storage.tiled(layer) else None
            for column, array in ((WEIGHT, layer.weight), (BIAS, layer.bias), (TILES, tiled)):
                if array is not None:
                    row[column] = at
                    parts.append(array.ravel())
                    at += array.size
        self.packed: Floats = np.concatenate(parts)
        self.scratch = Scratch(network)


class Stream:
    """Cached feature maps and their masks."""

    def __init__(self, weights: Weights, *, truncating: bool) -> None:
        network = weights.network
        self.weights = weights
        self.arena: Floats = np.zeros(weights.arena_size, dtype=np.float32)
        self.masks = regions.Masks(network, weights.layers, weights.axes, aliased=not truncating)
        self.truncating = truncating
        self.tolerance: Floats = np.full(len(network.tensors), -1, dtype=np.float32)
        self.spread: Floats = np.zeros(len(network.tensors), dtype=np.float32)
        self.counts: Ints = np.zeros(len(network.layers), dtype=np.int64)
        # Touch the pages now: the first run's time decides when reuse pays.
        for array in (self.arena, self.masks.bits):
            array.fill(0)

    def put(self, image: npt.NDArray[np.generic], table: Floats) -> None:
        """Write the input's dirty pixels: bytes (h, w, c) through a table, or floats (h, w, c)."""
        plan, space = self.masks.plan, self.weights.scratch
        count = running.collect(self.masks.bits, plan.masks, self.masks.boxes, 0, space.ys, space.xs)
        tensor = self.weights.tensors[0]
        if image.dtype == np.uint8:
            maps.put_bytes(self.arena, tensor, image, table, space.ys, space.xs, count)
        else:
            maps.put_floats(self.arena, tensor, image, space.ys, space.xs, count)

    def everything(self) -> None:
        """Mark all positions dirty and forget the tolerances, for a full run."""
        self.masks.everything()
        self.tolerance[:] = -1

    def run(self, *, known: bool, shift: Ints | None = None) -> None:
        """Compute all dirty positions; `known` when the masks have been predicted and nothing is truncated."""
        w, m, space = self.weights, self.masks, self.weights.scratch
        still = m.still if shift is None else shift
        running.run(
            m.plan.layers, w.tensors, m.plan.masks, m.bits, m.boxes, still, w.axes, m.scratch, shift is not None, known,
            self.arena, w.packed, w.params, self.tolerance,
            space.ys, space.xs, space.tile_ys, space.tile_xs, space.cols, space.out, self.counts,
        )  # fmt: skip

    def measure(self, eps: float) -> None:
        """Set the tolerances to eps deviations of each feature map as it now is."""
        maps.deviations(self.arena, self.weights.tensors, self.spread)
        self.tolerate(eps)

    def tolerate(self, eps: float) -> None:
        """Set the tolerances to eps deviations as last measured, less in early layers and more in late ones.

        An early error passes through all that follows; measured, e-fold from the middle either way costs least.
        """
        depth = np.linspace(-1, 1, len(self.spread))
        self.tolerance[:] = self.spread * (eps * np.exp(depth)).astype(np.float32)
        # What leaves as one position is not truncated: nothing could stop spreading, and outputs would be old.
        tensors = self.weights.network.tensors
        self.tolerance[[t for t in self.weights.network.boundary if tensors[t].height * tensors[t].width == 1]] = 0

    def move(self, shift: Ints) -> None:
        """Shift all feature maps that can follow."""
        maps.move(self.arena, self.weights.tensors, shift)

    def tensor(self, index: int) -> Floats:
        """A feature map as (1, channels, height, width)."""
        t = self.weights.network.tensors[index]
        out = np.empty((1, t.channels, t.height, t.width), dtype=np.float32)
        maps.planes(self.arena, self.weights.tensors[index], out[0])
        return out

    def nbytes(self) -> int:
        """Bytes held by this stream alone."""
        return self.arena.nbytes + self.masks.bits.nbytes
