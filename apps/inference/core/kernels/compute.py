"""What each kind of layer computes at a run of positions, into rows of a scratch block (positions x channels)."""

import numpy as np

from apps.inference.core.kernels import filters, rows
from apps.inference.core.native import native
from apps.inference.core.program import (
    BIAS,
    COLS,
    COUNT,
    DH,
    DW,
    GROUPS,
    IN_CH,
    KH,
    KW,
    LEFT,
    OFF,
    OPERATOR,
    PL,
    PT,
    ROWS,
    SH,
    SW,
    TOP,
    WEIGHT,
    WP,
    C,
    H,
    W,
)  # fmt: skip

ROW = "int64[::1]"
VEC = "float32[::1]"
POS = "int32[::1]"
RUN = f"{POS},{POS},int64,int64"


@native(f"UniTuple(int64,3)({ROW},{ROW})", inside=True)
def window(tensor, op):  # type: ignore[no-untyped-def]
    """Arena index of the first pixel under the window at (0, 0), and the floats to the next down and across."""
    first = tensor[OFF] + ((tensor[TOP] - op[PT]) * tensor[WP] + tensor[LEFT] - op[PL]) * tensor[C]
    return first, op[SH] * tensor[WP] * tensor[C], op[SW] * tensor[C]


@native(f"UniTuple(int64,3)({ROW})", inside=True)
def pixels(tensor):  # type: ignore[no-untyped-def]
    """Arena index of pixel (0, 0), and the floats to the next one down and across."""
    return tensor[OFF] + (tensor[TOP] * tensor[WP] + tensor[LEFT]) * tensor[C], tensor[WP] * tensor[C], tensor[C]


@native(f"void({VEC},{ROW},{ROW},{RUN},int64,int64,{VEC})")
def gather(arena, tensor, op, ys, xs, start, stop, channel, count, cols):  # type: ignore[no-untyped-def]
    """Pixels under each window, as (positions, taps x count) from a first channel on."""
    first, down, across = window(tensor, op)
    x, to = arena.ctypes.data + 4 * (first + channel), cols.ctypes.data
    line, step = 4 * op[DH] * tensor[WP] * tensor[C], 4 * op[DW] * tensor[C]
    high, wide = op[KH], op[KW]
    if op[DW] == 1 and count == tensor[C]:
        wide, count = 1, op[KW] * count
    for i in range(start, stop):
        source = x + 4 * (ys[i] * down + xs[i] * across)
        for ky in range(high):
            for kx in range(wide):
                rows.copy_row(source + ky * line + kx * step, to, count)
                to += 4 * count


@native(f"void({VEC},{VEC},{ROW},{ROW},{RUN},{VEC},{VEC})")
def convolve(arena, weights, tensor, op, ys, xs, start, stop, cols, out):  # type: ignore[no-untyped-def]
    """One matrix product per group over the gathered pixels."""
    count, groups = stop - start, op[GROUPS]
    inside, outside = tensor[C] // groups, op[COUNT] // groups
    depth = op[KH] * op[KW] * inside
    left = cols[: count * depth].reshape((count, depth))
    first, down, across = window(tensor, op)
    here = first + ys[start] * down + xs[start] * across
    last = first + ys[stop - 1] * down + xs[stop - 1] * across
    if groups == 1 and depth == tensor[C] and last - here == (count - 1) * depth:
        # The pixels lie one after the other already.
        lying = arena[here : here + count * depth].reshape((count, depth))
        right = weights[op[WEIGHT] : op[WEIGHT] + depth * outside].reshape((depth, outside))
        np.dot(lying, right, out[: count * outside].reshape((count, outside)))
        return
    for g in range(groups):
        gather(arena, tensor, op, ys, xs, start, stop, g * inside, inside, cols)
        at = op[WEIGHT] + g * depth * outside
        right = weights[at : at + depth * outside].reshape((depth, outside))
        if groups == 1:
            np.dot(left, right, out[: count * outside].reshape((count, outside)))
            continue
        spare = cols[count * depth : count * (depth + outside)].reshape((count, outside))
        np.dot(left, right, spare)
        a, b = spare.ctypes.data, out.ctypes.data + 4 * g * outside
        for i in range(count):
            rows.copy_row(a + 4 * i * outside, b + 4 * i * op[COUNT], outside)


@native(f"int64({POS},{POS},int64,int64)", inside=True)
def side_by_side(ys, xs, at, stop):  # type: ignore[no-untyped-def]
    """4 when this position and the next three lie in one row without a gap, else 1."""
    return 4 if at + 3 < stop and ys[at + 3] == ys[at] and xs[at + 3] == xs[at] + 3 else 1


@native(f"void({VEC},{VEC},{ROW},{ROW},{ROW},{RUN},{VEC},boolean,float32,float32)")
def depthwise(  # type: ignore[no-untyped-def]
    arena, weights, tensor, result, op, ys, xs, start, stop, out, direct, low, top
):  # fmt: skip
    """Every channel filtered by itself, with bias and clipping; into the arena at once if `direct`, else into rows."""
    n, base = tensor[C], arena.ctypes.data
    first, down, across = window(tensor, op)
    to, below, beside = pixels(result)
    further = 4 * (beside if direct else n)
    line, step, taps, high, wide = 4 * op[DH] * tensor[WP] * n, 4 * op[DW] * n, 4 * n, op[KH], op[KW]
    w, b = weights.ctypes.data + 4 * op[WEIGHT], weights.ctypes.data + 4 * op[BIAS]
    whole, i = 4 * (n // 16 * 16), start
    while i < stop:
        x = base + 4 * (first + ys[i] * down + xs[i] * across)
        o = base + 4 * (to + ys[i] * below + xs[i] * beside) if direct else out.ctypes.data + 4 * (i - start) * n
        count = side_by_side(ys, xs, i, stop)
        i += count
        if count == 4:
            for c in range(0, whole, 64):
                filters.four_sixteen(
                    x + c, w + c, b + c, o + c, high, wide, line, step, taps, 4 * across, further, low, top
                )
        for _ in range(count):
            c = whole if count == 4 else 0
            while c + 64 <= taps:
                filters.one_sixteen(x + c, w + c, b + c, o + c, high, wide, line, step, taps, low, top)
                c += 64
            if c + 32 <= taps:
                filters.one_eight(x + c, w + c, b + c, o + c, high, wide, line, step, taps, low, top)
                c += 32
            for k in range(c, taps, 4):
                filters.one_single(x + k, w + k, b + k, o + k, high, wide, line, step, taps, low, top)
            x += 4 * across
            o += further


@native(f"void({VEC},{ROW},{ROW},int64,int64,{VEC},boolean)")
def pool_rim(arena, tensor, op, top, left, result, largest):  # type: ignore[no-untyped-def]
    """One pooled position whose window may reach beyond the picture."""
    n, seen = tensor[C], 0
    first, down, across = pixels(tensor)
    result[:] = -np.inf if largest else 0.0
    for ky in range(op[KH]):
        y = top + ky * op[DH]
        for kx in range(op[KW]):
            x = left + kx * op[DW]
            if y < 0 or y >= tensor[H] or x < 0 or x >= tensor[W]:
                continue
            seen += 1
            at = first + y * down + x * across
            pixel = arena[at : at + n]
            for c in range(n):
                result[c] = max(result[c], pixel[c]) if largest else result[c] + pixel[c]
    if not largest:
        share = np.float32(1.0) / np.float32(op[KH] * op[KW] if op[OPERATOR] == 1 else max(seen, 1))
        for c in range(n):
            result[c] *= share


@native(f"void({VEC},{ROW},{ROW},{RUN},{VEC},boolean)")
def pool(arena, tensor, op, ys, xs, start, stop, out, largest):  # type: ignore[no-untyped-def]
    """Largest or mean value under each window; padding never counts as a value."""
    n, base = tensor[C], arena.ctypes.data
    first, down, across = window(tensor, op)
    line, step = op[DH] * tensor[WP] * n, op[DW] * n
    for i in range(start, stop):
        y, x = ys[i] * op[SH] - op[PT], xs[i] * op[SW] - op[PL]
        inside = y >= 0 and x >= 0 and y + (op[KH] - 1) * op[DH] < tensor[H] and x + (op[KW] - 1) * op[DW] < tensor[W]
        if largest and inside:
            source, target = base + 4 * (first + ys[i] * down + xs[i] * across), out.ctypes.data + 4 * (i - start) * n
            rows.largest_row(source, target, op[KH], op[KW], line, step, n)
        else:
            pool_rim(arena, tensor, op, y, x, out[(i - start) * n : (i - start + 1) * n], largest)


@native(f"void({VEC},{ROW},{ROW},{ROW},{RUN},{VEC})")
def binary(  # type: ignore[no-untyped-def]  # noqa: PLR0912
    arena, one, two, op, ys, xs, start, stop, out
):  # fmt: skip
    """Two feature maps combined pixel by pixel."""
    n = op[COUNT]
    p0, pd, pa = pixels(one)
    q0, qd, qa = pixels(two)
    for i in range(start, stop):
        p, q = p0 + ys[i] * pd + xs[i] * pa, q0 + ys[i] * qd + xs[i] * qa
        a, b, line = arena[p : p + n], arena[q : q + n], out[(i - start) * n : (i - start + 1) * n]
        if op[OPERATOR] == 0:
            for c in range(n):
                line[c] = a[c] + b[c]
        elif op[OPERATOR] == 1:
            for c in range(n):
                line[c] = a[c] - b[c]
        elif op[OPERATOR] == 2:
            for c in range(n):
                line[c] = a[c] * b[c]
        elif op[OPERATOR] == 3:
            for c in range(n):
                line[c] = a[c] / b[c]
        elif op[OPERATOR] == 4:
            for c in range(n):
                line[c] = max(a[c], b[c])
        else:
            for c in range(n):
                line[c] = min(a[c], b[c])


@native(f"void({VEC},{ROW},{VEC})")
def mean(arena, tensor, out):  # type: ignore[no-untyped-def]
    """Mean of every channel over all positions; each row is summed apart, so that rounding stays small."""
    n, wide = tensor[C], tensor[W]
    first, down, _ = pixels(tensor)
    total = np.zeros(n, dtype=np.float64)
    for y in range(tensor[H]):
        line = arena[first + y * down : first + y * down + wide * n]
        out[:n] = 0
        for x in range(wide):
            pixel = line[x * n : (x + 1) * n]
            for c in range(n):
                out[c] += pixel[c]
        for c in range(n):
            total[c] += out[c]
    for c in range(n):
        out[c] = np.float32(total[c] / (tensor[H] * wide))


@native(f"void({VEC},{ROW},{ROW},{ROW},{RUN},{VEC})")
def gate(arena, one, two, op, ys, xs, start, stop, out):  # type: ignore[no-untyped-def]
    """Every pixel times (or plus) one value per channel, the only pixel of a second feature map."""
    n = op[COUNT]
    first, down, across = pixels(one)
    at, _, _ = pixels(two)
    factor = arena[at : at + n]
    for i in range(start, stop):
        p = first + ys[i] * down + xs[i] * across
        pixel, line = arena[p : p + n], out[(i - start) * n : (i - start + 1) * n]
        if op[OPERATOR] == 0:
            for c in range(n):
                line[c] = pixel[c] + factor[c]
        else:
            for c in range(n):
                line[c] = pixel[c] * factor[c]


@native(f"void({VEC},{ROW},{ROW},{RUN},{VEC})")
def shuffle(arena, tensor, op, ys, xs, start, stop, out):  # type: ignore[no-untyped-def]
    """Channels laid out as pixels: a position takes those of its place within the source's pixel."""
    n, side = op[COUNT], op[SH]
    first, down, across = pixels(tensor)
    a, b = arena.ctypes.data + 4 * first, out.ctypes.data
    for i in range(start, stop):
        y, x = ys[i] // side, xs[i] // side
        part = (ys[i] - y * side) * side + xs[i] - x * side
        rows.copy_row(a + 4 * (y * down + x * across + part * n), b + 4 * (i - start) * n, n)


@native(f"void({VEC},{ROW},{ROW},{RUN},{VEC})")
def take(arena, tensor, op, ys, xs, start, stop, out):  # type: ignore[no-untyped-def]
    """Channels copied from the same place."""
    n = op[COUNT]
    first, down, across = pixels(tensor)
    a, b = arena.ctypes.data + 4 * (first + op[IN_CH]), out.ctypes.data
    for i in range(start, stop):
        rows.copy_row(a + 4 * (ys[i] * down + xs[i] * across), b + 4 * (i - start) * n, n)


@native(f"void({VEC},float64[::1],{ROW},{ROW},{RUN},{VEC})")
def resize(arena, axes, tensor, op, ys, xs, start, stop, out):  # type: ignore[no-untyped-def]
    """Weighted mean of up to four pixels."""
    n = op[COUNT]
    first, down, across = pixels(tensor)
    for i in range(start, stop):
        line = out[(i - start) * n : (i - start + 1) * n]
        r, q = op[ROWS] + 3 * ys[i], op[COLS] + 3 * xs[i]
        fy, fx = np.float32(axes[r + 2]), np.float32(axes[q + 2])
        y0, y1 = first + int(axes[r]) * down, first + int(axes[r + 1]) * down
        x0, x1 = int(axes[q]) * across, int(axes[q + 1]) * across
        a, b = arena[y0 + x0 : y0 + x0 + n], arena[y0 + x1 : y0 + x1 + n]
        if fy == 0 and fx == 0:
            line[:] = a
            continue
        c, d = arena[y1 + x0 : y1 + x0 + n], arena[y1 + x1 : y1 + x1 + n]
        gy, gx = np.float32(1) - fy, np.float32(1) - fx
        for k in range(n):
            line[k] = gy * (gx * a[k] + fx * b[k]) + fy * (gx * c[k] + fx * d[k])
