"""A network as its user meets it: load a file, and read what can be reused, in numbers, before running it."""

from dataclasses import asdict, dataclass
from fractions import Fraction
from typing import Any

import numpy as np

from apps.inference.core import regions
from apps.inference.core.kernels import storage
from apps.inference.core.network.layers import Network
from apps.inference.core.network.loading import Graph, GraphError, load
from apps.inference.core.network.lowering import lower
from apps.inference.core.program import strides

__all__ = ["Analysis", "Graph", "GraphError", "Node", "Share", "analyse", "cache_bytes", "load"]

DIRTY_SHARES = (0.005, 0.05, 0.2)


@dataclass(frozen=True)
class Node:
    """One operation; erosion is by how many input pixels a dirty rectangle has grown on each side (top, left)."""

    name: str
    operator: str
    reuse: str
    why: str
    erosion: tuple[float, float] | None


@dataclass(frozen=True)
class Share:
    """A compact dirty rectangle of a share of the picture, and the share of multiplications it costs."""

    dirty: float
    work: float


@dataclass(frozen=True)
class Analysis:
    """What the model page shows; `as_json` gives plain dictionaries."""

    height: int
    width: int
    nodes: tuple[Node, ...]
    spatial_nodes: int
    tail_index: int | None
    tail_why: str
    tail_share: float
    shares: tuple[Share, ...]
    cache_bytes: int
    macs: int
    verdict: str

    def as_json(self) -> dict[str, Any]:
        """Plain dictionaries and lists, fit for a JSON column."""
        return asdict(self)


def analyse(graph: Graph, height: int, width: int) -> Analysis:
    """Lower the network at one size and predict its reuse; GraphError if it does not fit."""
    network = lower(graph, height, width)
    masks = regions.masks_of(network)
    shares = tuple(Share(s, _work(masks, height, width, s)) for s in DIRTY_SHARES)
    total = network.macs() + network.tail_macs
    return Analysis(
        height=height,
        width=width,
        nodes=_nodes(network),
        spatial_nodes=sum(ok for _, _, ok, _ in network.nodes),
        tail_index=network.tail_index,
        tail_why=network.tail_why,
        tail_share=round(network.tail_macs / max(total, 1), 4),
        shares=shares,
        cache_bytes=cache_bytes(network, masks),
        macs=total,
        verdict=_verdict(network, shares, total),
    )


def _work(masks: regions.Masks, height: int, width: int, share: float) -> float:
    masks.clear()
    side_y, side_x = max(1, round(height * share**0.5)), max(1, round(width * share**0.5))
    mask = np.zeros((height, width), dtype=np.uint8)
    top, left = (height - side_y) // 2, (width - side_x) // 2
    mask[top : top + side_y, left : left + side_x] = 1
    masks.mark_input(mask)
    return round(masks.predict(), 4)


def _nodes(network: Network) -> tuple[Node, ...]:
    grown = _erosion(network)
    rows = []
    for name, operator, spatial, why in network.nodes:
        reuse = "spatial" if spatial else ("unsupported" if "not computed by regions" in why else "dense")
        rows.append(Node(name, operator, reuse, why, grown.get(name)))
    return tuple(rows)


def _erosion(network: Network) -> dict[str, tuple[float, float]]:
    """Half the receptive field on the upper left side, in input pixels, accumulated layer by layer."""
    per = strides(network)
    reach: dict[int, tuple[float, float]] = {0: (0.0, 0.0)}
    named: dict[str, tuple[float, float]] = {}
    for layer in network.layers:
        before = max((reach.get(t, (0.0, 0.0)) for t in layer.reads()), default=(0.0, 0.0))
        pair = per[layer.inputs[0]] or (Fraction(1), Fraction(1))
        step = [(k - 1) * d / 2 * float(s) for k, d, s in zip(layer.kernel, layer.dilation, pair, strict=True)]
        reach[layer.output] = (before[0] + step[0], before[1] + step[1])
        named[layer.name] = reach[layer.output]
    return named


def cache_bytes(network: Network, masks: regions.Masks) -> int:
    """Bytes of one stream's feature maps, masks and reference frame (of bytes)."""
    frame = network.tensors[0]
    return 4 * storage.arena_size(network) + masks.plan.size + frame.height * frame.width * frame.channels


def _verdict(network: Network, shares: tuple[Share, ...], total: int) -> str:
    tail = network.tail_macs / max(total, 1)
    work = ", ".join(f"{s.work:.0%} of the work for {s.dirty:.1%} dirty" for s in shares)
    best = 1 / max(shares[0].work, 1e-3)
    if tail > 0.5:
        return (
            f"Exact reuse is small: {tail:.0%} of the work lies in the dense tail, from {network.tail_why}. "
            f"Only unchanged frames are free; expect at most {best:.1f}x on a changed one."
        )
    bound = "bounded by erosion" if shares[0].work > 5 * shares[0].dirty else "little eroded"
    text = f"Exact reuse is {bound}: {work}; at best {best:.1f}x on a frame with 0.5% dirty."
    return text + (f" The dense tail starts at {network.tail_why} and holds {tail:.1%} of the work." if tail else "")
