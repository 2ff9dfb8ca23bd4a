"""Inner loops over the channels of one position, in registers.

All places are addresses in bytes, all strides floats: arrays as arguments cost more than the work on one position.
Channels beyond a multiple of eight go one by one.
"""

import numpy as np

from apps.inference.core.kernels import vector as v
from apps.inference.core.native import native

_A = "int64"


@native(f"void({','.join([_A] * 5)},boolean,float32,float32)", inside=True)
def close_row(r, b, e, o, n, adds, low, top):  # type: ignore[no-untyped-def]
    """Results r plus bias b, plus other pixels e if `adds`, clipped, to o."""
    floor, ceiling = v.splat(low), v.splat(top)
    c = 0
    while c + 8 <= n:
        value = v.add(v.load(r + 4 * c), v.load(b + 4 * c))
        if adds:
            value = v.add(value, v.load(e + 4 * c))
        v.store(o + 4 * c, v.smallest(v.largest(value, floor), ceiling))
        c += 8
    for k in range(c, n):
        total = v.load_one(r + 4 * k) + v.load_one(b + 4 * k)
        if adds:
            total += v.load_one(e + 4 * k)
        v.store_one(o + 4 * k, min(max(total, low), top))


@native(f"void({','.join([_A] * 7)})", inside=True)
def largest_row(x, o, high, wide, down, across, n):  # type: ignore[no-untyped-def]
    """Largest value under a window that lies inside the picture."""
    c = 0
    while c + 8 <= n:
        best = v.load(x + 4 * c)
        for ky in range(high):
            p = x + 4 * (c + ky * down)
            for _ in range(wide):
                best = v.largest(v.load(p), best)
                p += 4 * across
        v.store(o + 4 * c, best)
        c += 8
    for k in range(c, n):
        value = np.float32(-np.inf)
        for ky in range(high):
            for kx in range(wide):
                value = max(value, v.load_one(x + 4 * (k + ky * down + kx * across)))
        v.store_one(o + 4 * k, value)


@native(f"void({_A},{_A},{_A})", inside=True)
def copy_row(a, b, n):  # type: ignore[no-untyped-def]
    """Copy n floats from a to b; the last vector overlaps the one before."""
    if n < 8:
        for k in range(n):
            v.store_one(b + 4 * k, v.load_one(a + 4 * k))
        return
    for c in range(0, n - 7, 8):
        v.store(b + 4 * c, v.load(a + 4 * c))
    v.store(b + 4 * (n - 8), v.load(a + 4 * (n - 8)))


@native(f"float32({','.join([_A] * 5)},boolean,float32,float32)", inside=True)
def weigh_row(r, b, e, o, n, adds, low, top):  # type: ignore[no-untyped-def]
    """Results r plus bias b, plus other pixels e if `adds`, clipped, in place; the sum of squares of r - o."""
    floor, ceiling, squares = v.splat(low), v.splat(top), v.splat(np.float32(0))
    c = 0
    while c + 8 <= n:
        value = v.add(v.load(r + 4 * c), v.load(b + 4 * c))
        if adds:
            value = v.add(value, v.load(e + 4 * c))
        value = v.smallest(v.largest(value, floor), ceiling)
        v.store(r + 4 * c, value)
        gap = v.sub(value, v.load(o + 4 * c))
        squares = v.fma(gap, gap, squares)
        c += 8
    total = v.total(squares)
    for k in range(c, n):
        single = v.load_one(r + 4 * k) + v.load_one(b + 4 * k)
        if adds:
            single += v.load_one(e + 4 * k)
        single = min(max(single, low), top)
        v.store_one(r + 4 * k, single)
        total += (single - v.load_one(o + 4 * k)) * (single - v.load_one(o + 4 * k))
    return total
