"""Whole feature maps: written from pictures, read as planes, measured, moved."""

import numpy as np

from apps.inference.core.kernels.compute import POS, ROW, VEC
from apps.inference.core.native import native
from apps.inference.core.program import LEFT, OFF, TOP, WP, C, H, W

_TABLE = "int64[:,::1]"


@native(f"int64({ROW},int64,int64)", inside=True)
def place(tensor, y, x):  # type: ignore[no-untyped-def]
    """Arena index of a pixel."""
    return tensor[OFF] + ((y + tensor[TOP]) * tensor[WP] + x + tensor[LEFT]) * tensor[C]


@native(f"void({VEC},{_TABLE},{VEC})", reorder=True)
def deviations(arena, tensors, result):  # type: ignore[no-untyped-def]
    """Standard deviation of every feature map, from every fourth row."""
    for t in range(tensors.shape[0]):
        row = tensors[t]
        total, square, seen = 0.0, 0.0, 0
        for y in range(0, row[H], 4):
            at = place(row, y, 0)
            line = arena[at : at + row[W] * row[C]]
            for i in range(line.size):
                total += line[i]
                square += line[i] * line[i]
            seen += line.size
        mean = total / max(seen, 1)
        result[t] = np.sqrt(max(square / max(seen, 1) - mean * mean, 0.0))


@native(f"void({VEC},{ROW},int64,int64)")
def _move_down(arena, tensor, dy, dx):  # type: ignore[no-untyped-def]
    high, wide, n = tensor[H], tensor[W], tensor[C]
    span = (wide - abs(dx)) * n
    for k in range(high - abs(dy)):
        y = high - 1 - k if dy > 0 else k
        to, source = place(tensor, y, max(dx, 0)), place(tensor, y - dy, max(-dx, 0))
        if dx > 0:
            for i in range(span - 1, -1, -1):
                arena[to + i] = arena[source + i]
        else:
            for i in range(span):
                arena[to + i] = arena[source + i]


@native(f"void({VEC},{_TABLE},{_TABLE})")
def move(arena, tensors, shift):  # type: ignore[no-untyped-def]
    """Shift the pixels of every feature map that can follow a motion by whole positions."""
    for t in range(tensors.shape[0]):
        dy, dx = shift[t, 0], shift[t, 1]
        inside = abs(dy) < tensors[t, H] and abs(dx) < tensors[t, W]
        if shift[t, 2] == 1 and inside and (dy != 0 or dx != 0):
            _move_down(arena, tensors[t], dy, dx)


@native(f"void({VEC},{ROW},float32[:,:,::1])")
def planes(arena, tensor, out):  # type: ignore[no-untyped-def]
    """One feature map as (channels, height, width)."""
    n = tensor[C]
    for y in range(tensor[H]):
        at = place(tensor, y, 0)
        line = arena[at : at + tensor[W] * n]
        for c in range(n):
            row = out[c, y]
            for x in range(row.size):
                row[x] = line[x * n + c]


@native(f"void({VEC},{ROW},uint8[:,:,::1],float32[:,::1],{POS},{POS},int64)")
def put_bytes(arena, tensor, image, table, ys, xs, count):  # type: ignore[no-untyped-def]
    """Normalised pixels of an image at the listed positions."""
    for i in range(count):
        at = place(tensor, ys[i], xs[i])
        for c in range(tensor[C]):
            arena[at + c] = table[c, image[ys[i], xs[i], c]]


@native(f"void({VEC},{ROW},float32[:,:,::1],{POS},{POS},int64)")
def put_floats(arena, tensor, image, ys, xs, count):  # type: ignore[no-untyped-def]
    """Pixels of a float picture (height, width, channels) at the listed positions."""
    for i in range(count):
        at = place(tensor, ys[i], xs[i])
        for c in range(tensor[C]):
            arena[at + c] = image[ys[i], xs[i], c]
