"""What each kind of layer computes at a run of positions, into rows of a scratch block (positions x channels)."""

import numpy as np

from apps.inference.core.kernels import rows
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


@native(f"int64({ROW},{ROW},int64,int64)")
def corner(tensor, op, y, x):  # type: ignore[no-untyped-def]
    """Arena index of the upper left pixel under a window."""
    top, left = y * op[SH] - op[PT] + tensor[TOP], x * op[SW] - op[PL] + tensor[LEFT]
    return tensor[OFF] + (top * tensor[WP] + left) * tensor[C]


@native(f"int64({ROW},int64,int64)")
def place(tensor, y, x):  # type: ignore[no-untyped-def]
    """Arena index of a pixel."""
    return tensor[OFF] + ((y + tensor[TOP]) * tensor[WP] + x + tensor[LEFT]) * tensor[C]


@native(f"void({VEC},{ROW},{ROW},{RUN},int64,int64,{VEC})")
def gather(arena, tensor, op, ys, xs, start, stop, channel, count, cols):  # type: ignore[no-untyped-def]
    """Pixels under each window, as (positions, taps x count) from a first channel on."""
    at, whole = 0, op[DW] == 1 and count == tensor[C]
    for i in range(start, stop):
        base = corner(tensor, op, ys[i], xs[i]) + channel
        for ky in range(op[KH]):
            source = base + ky * op[DH] * tensor[WP] * tensor[C]
            if whole:
                run = op[KW] * count
                rows.copy_row(arena, source, cols, at, run)
                at += run
                continue
            for kx in range(op[KW]):
                here = source + kx * op[DW] * tensor[C]
                rows.copy_row(arena, here, cols, at, count)
                at += count


@native(f"void({VEC},{VEC},{ROW},{ROW},{RUN},{VEC},{VEC})")
def convolve(arena, weights, tensor, op, ys, xs, start, stop, cols, out):  # type: ignore[no-untyped-def]
    """One matrix product per group over the gathered pixels."""
    count, groups = stop - start, op[GROUPS]
    inside, outside = tensor[C] // groups, op[COUNT] // groups
    depth = op[KH] * op[KW] * inside
    left = cols[: count * depth].reshape((count, depth))
    first = corner(tensor, op, ys[start], xs[start])
    point = depth == tensor[C] and groups == 1
    if point and corner(tensor, op, ys[stop - 1], xs[stop - 1]) - first == (count - 1) * depth:
        # The pixels lie one after the other already.
        lying = arena[first : first + count * depth].reshape((count, depth))
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
        for i in range(count):
            rows.copy_row(cols, count * depth + i * outside, out, i * op[COUNT] + g * outside, outside)


@native(f"void({VEC},{VEC},{ROW},{ROW},{ROW},{RUN},{VEC},boolean,float32,float32)")
def depthwise(arena, weights, tensor, result, op, ys, xs, start, stop, out, direct, low, top):  # type: ignore[no-untyped-def]
    """Every channel filtered by itself, with bias and clipping; into the arena at once if `direct`, else into rows."""
    n = tensor[C]
    down, across = op[DH] * tensor[WP] * n, op[DW] * n
    for i in range(start, stop):
        source = corner(tensor, op, ys[i], xs[i])
        target = place(result, ys[i], xs[i]) if direct else (i - start) * n
        rows.filter_row(
            arena, source, weights, op[WEIGHT], weights, op[BIAS], arena if direct else out, target,
            op[KH], op[KW], down, across, n, low, top,
        )  # fmt: skip


@native(f"void({VEC},{ROW},{ROW},{RUN},{VEC},boolean)")
def pool(arena, tensor, op, ys, xs, start, stop, out, largest):  # type: ignore[no-untyped-def]
    """Largest or mean value under each window; padding never counts as a value."""
    n = tensor[C]
    for i in range(start, stop):
        line = out[(i - start) * n : (i - start + 1) * n]
        line[:] = -np.inf if largest else 0.0
        y, x = ys[i] * op[SH] - op[PT], xs[i] * op[SW] - op[PL]
        inside = y >= 0 and x >= 0 and y + (op[KH] - 1) * op[DH] < tensor[H] and x + (op[KW] - 1) * op[DW] < tensor[W]
        if largest and inside:
            down, across = op[DH] * tensor[WP] * n, op[DW] * n
            rows.largest_row(
                arena, corner(tensor, op, ys[i], xs[i]), out, (i - start) * n, op[KH], op[KW], down, across, n
            )
            continue
        seen = 0
        for ky in range(op[KH]):
            y = ys[i] * op[SH] - op[PT] + ky * op[DH]
            for kx in range(op[KW]):
                x = xs[i] * op[SW] - op[PL] + kx * op[DW]
                if y < 0 or y >= tensor[H] or x < 0 or x >= tensor[W]:
                    continue
                seen += 1
                at = place(tensor, y, x)
                pixel = arena[at : at + n]
                if largest:
                    for c in range(n):
                        line[c] = max(line[c], pixel[c])
                else:
                    for c in range(n):
                        line[c] += pixel[c]
        if not largest:
            share = np.float32(1.0) / np.float32(op[KH] * op[KW] if op[OPERATOR] == 1 else max(seen, 1))
            for c in range(n):
                line[c] *= share


@native(f"void({VEC},{ROW},{ROW},{ROW},{RUN},{VEC})")
def binary(arena, one, two, op, ys, xs, start, stop, out):  # type: ignore[no-untyped-def]  # noqa: PLR0912
    """Two feature maps combined pixel by pixel."""
    n = op[COUNT]
    for i in range(start, stop):
        p, q = place(one, ys[i], xs[i]), place(two, ys[i], xs[i])
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


@native(f"void({VEC},{ROW},{ROW},{RUN},{VEC})")
def take(arena, tensor, op, ys, xs, start, stop, out):  # type: ignore[no-untyped-def]
    """Channels copied from the same place."""
    n = op[COUNT]
    for i in range(start, stop):
        at = place(tensor, ys[i], xs[i]) + op[IN_CH]
        rows.copy_row(arena, at, out, (i - start) * n, n)


@native(f"void({VEC},float64[::1],{ROW},{ROW},{RUN},{VEC})")
def resize(arena, axes, tensor, op, ys, xs, start, stop, out):  # type: ignore[no-untyped-def]
    """Weighted mean of up to four pixels."""
    n = op[COUNT]
    for i in range(start, stop):
        line = out[(i - start) * n : (i - start + 1) * n]
        r, q = op[ROWS] + 3 * ys[i], op[COLS] + 3 * xs[i]
        fy, fx = np.float32(axes[r + 2]), np.float32(axes[q + 2])
        y0, y1, x0, x1 = int(axes[r]), int(axes[r + 1]), int(axes[q]), int(axes[q + 1])
        p00, p01, p10, p11 = place(tensor, y0, x0), place(tensor, y0, x1), place(tensor, y1, x0), place(tensor, y1, x1)
        if fy == 0 and fx == 0:
            rows.copy_row(arena, p00, out, (i - start) * n, n)
            continue
        gy, gx = np.float32(1) - fy, np.float32(1) - fx
        a, b, c, d = arena[p00 : p00 + n], arena[p01 : p01 + n], arena[p10 : p10 + n], arena[p11 : p11 + n]
        for k in range(n):
            line[k] = gy * (gx * a[k] + fx * b[k]) + fy * (gx * c[k] + fx * d[k])
