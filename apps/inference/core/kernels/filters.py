"""Depthwise filters: a few channels of one position, or of four side by side, in registers.

All places and strides are bytes: arrays as arguments cost more than the work on one position.
"""

from apps.inference.core.kernels import vector as v
from apps.inference.core.native import native

_A = "int64"
_SIGNATURE = f"void({','.join([_A] * 9)},float32,float32)"


@native(f"void({','.join([_A] * 11)},float32,float32)", inside=True)
def four_sixteen(x, w, b, o, high, wide, down, across, taps, beside, further, low, top):  # type: ignore[no-untyped-def]
    """Sixteen channels at four positions `beside` each other: pixels x, weights w, bias b, to o and `further`."""
    a0, b0 = v.load(b), v.load(b + 32)
    a1, a2, a3, b1, b2, b3 = a0, a0, a0, b0, b0, b0
    q = w
    for ky in range(high):
        p = x + ky * down
        for _ in range(wide):
            f, g = v.load(q), v.load(q + 32)
            a0, b0 = v.fma(v.load(p), f, a0), v.fma(v.load(p + 32), g, b0)
            r = p + beside
            a1, b1 = v.fma(v.load(r), f, a1), v.fma(v.load(r + 32), g, b1)
            r += beside
            a2, b2 = v.fma(v.load(r), f, a2), v.fma(v.load(r + 32), g, b2)
            r += beside
            a3, b3 = v.fma(v.load(r), f, a3), v.fma(v.load(r + 32), g, b3)
            p += across
            q += taps
    floor, ceiling = v.splat(low), v.splat(top)
    v.store(o, v.smallest(v.largest(a0, floor), ceiling))
    v.store(o + 32, v.smallest(v.largest(b0, floor), ceiling))
    v.store(o + further, v.smallest(v.largest(a1, floor), ceiling))
    v.store(o + further + 32, v.smallest(v.largest(b1, floor), ceiling))
    v.store(o + 2 * further, v.smallest(v.largest(a2, floor), ceiling))
    v.store(o + 2 * further + 32, v.smallest(v.largest(b2, floor), ceiling))
    v.store(o + 3 * further, v.smallest(v.largest(a3, floor), ceiling))
    v.store(o + 3 * further + 32, v.smallest(v.largest(b3, floor), ceiling))


@native(_SIGNATURE, inside=True)
def one_sixteen(x, w, b, o, high, wide, down, across, taps, low, top):  # type: ignore[no-untyped-def]
    """Sixteen channels at one position."""
    s0, s1 = v.load(b), v.load(b + 32)
    q = w
    for ky in range(high):
        p = x + ky * down
        for _ in range(wide):
            s0 = v.fma(v.load(p), v.load(q), s0)
            s1 = v.fma(v.load(p + 32), v.load(q + 32), s1)
            p += across
            q += taps
    floor, ceiling = v.splat(low), v.splat(top)
    v.store(o, v.smallest(v.largest(s0, floor), ceiling))
    v.store(o + 32, v.smallest(v.largest(s1, floor), ceiling))


@native(_SIGNATURE, inside=True)
def one_eight(x, w, b, o, high, wide, down, across, taps, low, top):  # type: ignore[no-untyped-def]
    """Eight channels at one position."""
    total = v.load(b)
    q = w
    for ky in range(high):
        p = x + ky * down
        for _ in range(wide):
            total = v.fma(v.load(p), v.load(q), total)
            p += across
            q += taps
    v.store(o, v.smallest(v.largest(total, v.splat(low)), v.splat(top)))


@native(_SIGNATURE, inside=True)
def one_single(x, w, b, o, high, wide, down, across, taps, low, top):  # type: ignore[no-untyped-def]
    """One channel at one position."""
    total = v.load_one(b)
    for ky in range(high):
        for kx in range(wide):
            total += v.load_one(x + ky * down + kx * across) * v.load_one(w + (ky * wide + kx) * taps)
    v.store_one(o, min(max(total, low), top))
