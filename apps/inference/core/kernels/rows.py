"""Inner loops over the channels of one position, in registers; channels beyond a multiple of eight go one by one."""

from apps.inference.core.kernels import vector as v
from apps.inference.core.native import native

VEC = "float32[::1]"


@native(f"void({VEC},int64,{VEC},int64,{VEC},int64,{VEC},int64,int64,int64,int64,int64,int64,float32,float32)")
def filter_row(  # type: ignore[no-untyped-def]
    arena, source, weights, taps, bias, first, out, target, high, wide, down, across, n, low, top
):  # fmt: skip
    """One position of a depthwise filter with bias and clipping; `down` and `across` are floats between taps."""
    x, w, b, o = arena.ctypes.data + 4 * source, weights.ctypes.data + 4 * taps, bias.ctypes.data + 4 * first, 0
    o = out.ctypes.data + 4 * target
    floor, ceiling = v.splat(low), v.splat(top)
    c = 0
    while c + 32 <= n:
        at = 4 * c
        s0, s1, s2, s3 = v.load(b + at), v.load(b + at + 32), v.load(b + at + 64), v.load(b + at + 96)
        q = w + at
        for ky in range(high):
            p = x + at + 4 * ky * down
            for _ in range(wide):
                s0 = v.fma(v.load(p), v.load(q), s0)
                s1 = v.fma(v.load(p + 32), v.load(q + 32), s1)
                s2 = v.fma(v.load(p + 64), v.load(q + 64), s2)
                s3 = v.fma(v.load(p + 96), v.load(q + 96), s3)
                p += 4 * across
                q += 4 * n
        v.store(o + at, v.smallest(v.largest(s0, floor), ceiling))
        v.store(o + at + 32, v.smallest(v.largest(s1, floor), ceiling))
        v.store(o + at + 64, v.smallest(v.largest(s2, floor), ceiling))
        v.store(o + at + 96, v.smallest(v.largest(s3, floor), ceiling))
        c += 32
    while c + 8 <= n:
        at = 4 * c
        s0 = v.load(b + at)
        q = w + at
        for ky in range(high):
            p = x + at + 4 * ky * down
            for _ in range(wide):
                s0 = v.fma(v.load(p), v.load(q), s0)
                p += 4 * across
                q += 4 * n
        v.store(o + at, v.smallest(v.largest(s0, floor), ceiling))
        c += 8
    for k in range(c, n):
        total = bias[first + k]
        for ky in range(high):
            for kx in range(wide):
                total += arena[source + k + ky * down + kx * across] * weights[taps + (ky * wide + kx) * n + k]
        out[target + k] = min(max(total, low), top)


@native(f"void({VEC},int64,{VEC},int64,{VEC},int64,{VEC},int64,boolean,int64,float32,float32)")
def close_row(rows, at, bias, first, other, second, out, target, adds, n, low, top):  # type: ignore[no-untyped-def]
    """A row of results plus bias, plus another feature map if `adds`, clipped, to its place."""
    r, b, o = rows.ctypes.data + 4 * at, bias.ctypes.data + 4 * first, out.ctypes.data + 4 * target
    e = other.ctypes.data + 4 * second
    floor, ceiling = v.splat(low), v.splat(top)
    c = 0
    while c + 8 <= n:
        value = v.add(v.load(r + 4 * c), v.load(b + 4 * c))
        if adds:
            value = v.add(value, v.load(e + 4 * c))
        v.store(o + 4 * c, v.smallest(v.largest(value, floor), ceiling))
        c += 8
    for k in range(c, n):
        total = rows[at + k] + bias[first + k]
        if adds:
            total += other[second + k]
        out[target + k] = min(max(total, low), top)


@native(f"void({VEC},int64,{VEC},int64,int64,int64,int64,int64,int64)")
def largest_row(arena, source, out, target, high, wide, down, across, n):  # type: ignore[no-untyped-def]
    """Largest value under a window that lies inside the picture."""
    x, o = arena.ctypes.data + 4 * source, out.ctypes.data + 4 * target
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
        value = arena[source + k]
        for ky in range(high):
            for kx in range(wide):
                value = max(value, arena[source + k + ky * down + kx * across])
        out[target + k] = value


@native(f"void({VEC},int64,{VEC},int64,int64)")
def copy_row(source, at, target, to, n):  # type: ignore[no-untyped-def]
    """Copy n floats; the last vector overlaps the one before."""
    if n < 8:
        for k in range(n):
            target[to + k] = source[at + k]
        return
    a, b = source.ctypes.data + 4 * at, target.ctypes.data + 4 * to
    for c in range(0, n - 7, 8):
        v.store(b + 4 * c, v.load(a + 4 * c))
    last = 4 * (n - 8)
    v.store(b + last, v.load(a + last))
