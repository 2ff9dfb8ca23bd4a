"""3 x 3 convolutions by tiles of 2 x 2 outputs, 16 products instead of 36 (Lavin and Gray, 2016, F(2x2, 3x3)).

A tile reads 4 x 4 pixels; pixels and weights are transformed, multiplied matrix by matrix, and transformed back.
"""

import numpy as np
import numpy.typing as npt

from apps.inference.core.kernels import vector as v
from apps.inference.core.kernels.compute import POS, ROW, VEC, window
from apps.inference.core.native import native
from apps.inference.core.network.layers import Layer
from apps.inference.core.program import COUNT, MH, MOFF, MW, TILES, C

Floats = npt.NDArray[np.float32]
_G = np.array([[1, 0, 0], [0.5, 0.5, 0.5], [0.5, -0.5, 0.5], [0, 0, 1]])
_TABLE = "int64[:,::1]"


def weights(layer: Layer) -> Floats:
    """The layer's weights (1, 9, inputs, outputs) transformed to (16, inputs, outputs)."""
    assert layer.weight is not None
    taps = layer.weight.astype(np.float64).reshape(3, 3, *layer.weight.shape[2:])
    moved = np.einsum("ai,bj,ijcn->abcn", _G, _G, taps)
    return np.ascontiguousarray(moved.reshape(16, *taps.shape[2:]), dtype=np.float32)


@native(f"int64(uint8[::1],{_TABLE},{_TABLE},int64,{POS},{POS})")
def tiles(masks, table, boxes, at, ys, xs):  # type: ignore[no-untyped-def]
    """List the tiles (in tiles) that hold a dirty position; returns how many."""
    n, width, start = 0, table[at, MW], table[at, MOFF]
    if boxes[at, 0] >= boxes[at, 1]:
        return 0
    for ty in range(boxes[at, 0] // 2, (boxes[at, 1] + 1) // 2):
        row = start + 2 * ty * width
        below = row + (width if 2 * ty + 1 < table[at, MH] else 0)
        for tx in range(boxes[at, 2] // 2, (boxes[at, 3] + 1) // 2):
            x = 2 * tx
            right = x + (1 if x + 1 < width else 0)
            ys[n], xs[n] = ty, tx
            n += masks[row + x] | masks[row + right] | masks[below + x] | masks[below + right]
    return n


@native("void(int64,int64,int64,int64,int64,int64)", inside=True)
def _enter(x, down, across, channels, o, step):  # type: ignore[no-untyped-def]
    """Transform one tile's 4 x 4 pixels at address x; matrix k of the result lies at address o + 4 k x step."""
    for c in range(0, channels, 8):
        for kx in range(4):
            p = x + 4 * (c + kx * across)
            d0, d1, d2, d3 = v.load(p), v.load(p + 4 * down), v.load(p + 8 * down), v.load(p + 12 * down)
            q = o + 4 * (c + kx * step)
            v.store(q, v.sub(d0, d2))
            v.store(q + 16 * step, v.add(d1, d2))
            v.store(q + 32 * step, v.sub(d2, d1))
            v.store(q + 48 * step, v.sub(d1, d3))
        for ky in range(4):
            q = o + 4 * (c + 4 * ky * step)
            d0, d1, d2, d3 = v.load(q), v.load(q + 4 * step), v.load(q + 8 * step), v.load(q + 12 * step)
            v.store(q, v.sub(d0, d2))
            v.store(q + 4 * step, v.add(d1, d2))
            v.store(q + 8 * step, v.sub(d2, d1))
            v.store(q + 12 * step, v.sub(d1, d3))


@native("void(int64,int64,int64,int64,int64,int64,int64,int64)", inside=True)
def _leave(m, step, channels, o, p00, p01, p10, p11):  # type: ignore[no-untyped-def]
    """Transform one tile's 16 products at address m to four rows of o (those not needed may lie anywhere free)."""
    s = 4 * step
    for c in range(0, 4 * channels, 32):
        q = m + c
        a0 = v.add(v.add(v.load(q), v.load(q + 4 * s)), v.load(q + 8 * s))
        b0 = v.sub(v.sub(v.load(q + 4 * s), v.load(q + 8 * s)), v.load(q + 12 * s))
        q += s
        a1 = v.add(v.add(v.load(q), v.load(q + 4 * s)), v.load(q + 8 * s))
        b1 = v.sub(v.sub(v.load(q + 4 * s), v.load(q + 8 * s)), v.load(q + 12 * s))
        q += s
        a2 = v.add(v.add(v.load(q), v.load(q + 4 * s)), v.load(q + 8 * s))
        b2 = v.sub(v.sub(v.load(q + 4 * s), v.load(q + 8 * s)), v.load(q + 12 * s))
        q += s
        a3 = v.add(v.add(v.load(q), v.load(q + 4 * s)), v.load(q + 8 * s))
        b3 = v.sub(v.sub(v.load(q + 4 * s), v.load(q + 8 * s)), v.load(q + 12 * s))
        v.store(o + 4 * p00 + c, v.add(v.add(a0, a1), a2))
        v.store(o + 4 * p01 + c, v.sub(v.sub(a1, a2), a3))
        v.store(o + 4 * p10 + c, v.add(v.add(b0, b1), b2))
        v.store(o + 4 * p11 + c, v.sub(v.sub(b1, b2), b3))


@native(f"int64({VEC},{VEC},{ROW},{ROW},uint8[::1],{ROW},{POS},{POS},int64,int64,{VEC},{VEC},{POS},{POS})")
def convolve(arena, packed, tensor, op, masks, mask, tys, txs, start, stop, cols, out, ys, xs):  # type: ignore[no-untyped-def]
    """Convolve some tiles; lists their dirty positions, whose results are the rows of `out`; returns how many."""
    count, inputs, outputs = stop - start, tensor[C], op[COUNT]
    step, wide = count * inputs, count * outputs
    products = cols[16 * step : 16 * (step + wide)]
    first, down, across = window(tensor, op)
    x, o = arena.ctypes.data + 4 * first, cols.ctypes.data
    for i in range(count):
        source = x + 8 * (tys[start + i] * down + txs[start + i] * across)
        _enter(source, down, across, inputs, o + 4 * i * inputs, step)
    for k in range(16):
        at = op[TILES] + k * inputs * outputs
        right = packed[at : at + inputs * outputs].reshape((inputs, outputs))
        left = cols[k * step : (k + 1) * step].reshape((count, inputs))
        np.dot(left, right, products[k * wide : (k + 1) * wide].reshape((count, outputs)))
    n, m, to = 0, products.ctypes.data, out.ctypes.data
    # Results that nobody needs go to a row beyond all others.
    spare = 4 * count * outputs
    for i in range(count):
        y, x = 2 * tys[start + i], 2 * txs[start + i]
        a, b, c, d = spare, spare, spare, spare
        at = mask[MOFF] + y * mask[MW] + x
        right, below = x + 1 < mask[MW], y + 1 < mask[MH]
        if masks[at] != 0:
            ys[n], xs[n], a = y, x, n * outputs
            n += 1
        if right and masks[at + 1] != 0:
            ys[n], xs[n], b = y, x + 1, n * outputs
            n += 1
        if below and masks[at + mask[MW]] != 0:
            ys[n], xs[n], c = y + 1, x, n * outputs
            n += 1
        if right and below and masks[at + mask[MW] + 1] != 0:
            ys[n], xs[n], d = y + 1, x + 1, n * outputs
            n += 1
        _leave(m + 4 * i * outputs, wide, outputs, to, a, b, c, d)
    return n
