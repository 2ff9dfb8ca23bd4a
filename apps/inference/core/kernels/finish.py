"""The second half of every layer: bias, residual, activation, comparison with the cached value, write-back."""

import numpy as np

from apps.inference.core.kernels import rows
from apps.inference.core.kernels.compute import ROW, RUN, VEC, pixels
from apps.inference.core.native import native
from apps.inference.core.network.layers import Act
from apps.inference.core.program import COUNT, MOFF, MW, OUT_CH, WEIGHT

_NONE, _CLIP, _LEAKY, _SIGMOID, _TANH = (int(a) for a in (Act.NONE, Act.CLIP, Act.LEAKY, Act.SIGMOID, Act.TANH))
_HARDSIGMOID, _HARDSWISH, _SILU = (int(a) for a in (Act.HARDSIGMOID, Act.HARDSWISH, Act.SILU))


@native(f"void({VEC},{VEC},{ROW},int64)")
def scale(out, weights, op, rows):  # type: ignore[no-untyped-def]
    """Multiply by a factor and add a shift per channel."""
    n = op[COUNT]
    factor, shift = weights[op[WEIGHT] : op[WEIGHT] + n], weights[op[WEIGHT] + n : op[WEIGHT] + 2 * n]
    for i in range(rows):
        line = out[i * n : (i + 1) * n]
        for c in range(n):
            line[c] = line[c] * factor[c] + shift[c]


@native(f"void({VEC},{VEC},{VEC},{ROW},{ROW},{ROW},{RUN},int64,boolean,boolean,float32,float32)")
def close(  # type: ignore[no-untyped-def]
    out, arena, weights, result, other, op, ys, xs, start, stop, bias, adds, direct, low, top
):  # fmt: skip
    """Rows plus bias (an index into the weights), plus another feature map, clipped; into the arena or in place."""
    n, base = op[COUNT], arena.ctypes.data
    to, below, beside = pixels(result)
    at, down, across = pixels(other)
    r, b = out.ctypes.data, weights.ctypes.data + 4 * bias
    to += op[OUT_CH]
    for i in range(start, stop):
        second = base + 4 * (at + ys[i] * down + xs[i] * across)
        target = base + 4 * (to + ys[i] * below + xs[i] * beside) if direct else r
        rows.close_row(r, b, second, target, n, adds, low, top)
        r += 4 * n


@native(f"void({VEC},int64,float32,float32)")
def activate(block, act, a, b):  # type: ignore[no-untyped-def]  # noqa: PLR0912
    """Apply an activation in place."""
    if act == _CLIP:
        for i in range(block.size):
            block[i] = min(max(block[i], a), b)
    elif act == _LEAKY:
        for i in range(block.size):
            block[i] = block[i] if block[i] >= 0 else a * block[i]
    elif act == _SIGMOID:
        for i in range(block.size):
            block[i] = np.float32(1) / (np.float32(1) + np.exp(-block[i]))
    elif act == _TANH:
        for i in range(block.size):
            block[i] = np.tanh(block[i])
    elif act == _HARDSIGMOID:
        for i in range(block.size):
            block[i] = min(max(a * block[i] + b, np.float32(0)), np.float32(1))
    elif act == _HARDSWISH:
        for i in range(block.size):
            slope = min(max(block[i] / np.float32(6) + np.float32(0.5), np.float32(0)), np.float32(1))
            block[i] = block[i] * slope
    elif act == _SILU:
        for i in range(block.size):
            block[i] = block[i] / (np.float32(1) + np.exp(-block[i]))


@native(f"void({VEC},{VEC},{ROW},{ROW},{RUN})")
def scatter(out, arena, tensor, op, ys, xs, start, stop):  # type: ignore[no-untyped-def]
    """Write every row to its place."""
    n, r = op[COUNT], out.ctypes.data
    first, down, across = pixels(tensor)
    o = arena.ctypes.data + 4 * (first + op[OUT_CH])
    for i in range(start, stop):
        rows.copy_row(r + 4 * (i - start) * n, o + 4 * (ys[i] * down + xs[i] * across), n)


@native(f"void({VEC},{VEC},{VEC},{ROW},{ROW},{ROW},{RUN},int64,boolean,float32,float32,float32,uint8[::1],{ROW})")
def settle(  # type: ignore[no-untyped-def]
    out, arena, weights, result, other, op, ys, xs, start, stop, bias, adds, low, top, tolerance, masks, mask
):  # fmt: skip
    """Like `close`, but write only rows that changed; the others keep their old value and stop spreading.

    A row has changed when the root mean square of its channels' differences exceeds the tolerance: the next layers
    mix all channels, so that is what reaches them, and it means the same in narrow and wide layers.
    """
    n, base = op[COUNT], arena.ctypes.data
    to, below, beside = pixels(result)
    at, down, across = pixels(other)
    r, b = out.ctypes.data, weights.ctypes.data + 4 * bias
    limit = tolerance * tolerance * np.float32(n)
    for i in range(start, stop):
        second = base + 4 * (at + ys[i] * down + xs[i] * across)
        target = base + 4 * (to + ys[i] * below + xs[i] * beside)
        if rows.weigh_row(r, b, second, target, n, adds, low, top) > limit:
            rows.copy_row(r, target, n)
        else:
            masks[mask[MOFF] + ys[i] * mask[MW] + xs[i]] = 0
        r += 4 * n
