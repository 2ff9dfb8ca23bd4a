"""The second half of every layer: bias, residual, activation, comparison with the cached value, write-back."""

import numpy as np

from apps.inference.core.kernels import rows
from apps.inference.core.kernels.compute import ROW, RUN, VEC, place
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
def close(out, arena, weights, result, other, op, ys, xs, start, stop, bias, adds, direct, low, top):  # type: ignore[no-untyped-def]
    """Rows plus bias (an index into the weights), plus another feature map, clipped; into the arena or in place."""
    n = op[COUNT]
    for i in range(start, stop):
        at = (i - start) * n
        second = place(other, ys[i], xs[i]) if adds else 0
        target = place(result, ys[i], xs[i]) + op[OUT_CH] if direct else at
        rows.close_row(out, at, weights, bias, arena, second, arena if direct else out, target, adds, n, low, top)


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
    n = op[COUNT]
    for i in range(start, stop):
        at = place(tensor, ys[i], xs[i]) + op[OUT_CH]
        line, target = out[(i - start) * n : (i - start + 1) * n], arena[at : at + n]
        for c in range(n):
            target[c] = line[c]


@native(f"void({VEC},{VEC},{ROW},{ROW},{RUN},float32,uint8[::1],{ROW})")
def settle(out, arena, tensor, op, ys, xs, start, stop, tolerance, masks, mask):  # type: ignore[no-untyped-def]
    """Write the rows that changed by more than the tolerance in any channel; the others stay and stop spreading."""
    n = op[COUNT]
    for i in range(start, stop):
        at = place(tensor, ys[i], xs[i])
        line, target = out[(i - start) * n : (i - start + 1) * n], arena[at : at + n]
        moved = False
        for c in range(n):
            moved |= abs(line[c] - target[c]) > tolerance
        if moved:
            for c in range(n):
                target[c] = line[c]
        else:
            masks[mask[MOFF] + ys[i] * mask[MW] + xs[i]] = 0
