"""What each kind of layer computes at a run of positions, into rows of a scratch block (positions x channels)."""

import numpy as np

from apps.inference.core.native import native
from apps.inference.core.program import (
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


@native(f"void({VEC},{VEC})")
def copy(source, target):  # type: ignore[no-untyped-def]
    """Copy as many floats as the target holds."""
    for i in range(target.size):
        target[i] = source[i]


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
                copy(arena[source : source + run], cols[at : at + run])
                at += run
                continue
            for kx in range(op[KW]):
                here = source + kx * op[DW] * tensor[C]
                copy(arena[here : here + count], cols[at : at + count])
                at += count


@native(f"void({VEC},{VEC},{ROW},{ROW},{RUN},{VEC},{VEC})")
def convolve(arena, weights, tensor, op, ys, xs, start, stop, cols, out):  # type: ignore[no-untyped-def]
    """One matrix product per group over the gathered pixels."""
    rows, groups = stop - start, op[GROUPS]
    inside, outside = tensor[C] // groups, op[COUNT] // groups
    depth = op[KH] * op[KW] * inside
    left = cols[: rows * depth].reshape((rows, depth))
    for g in range(groups):
        gather(arena, tensor, op, ys, xs, start, stop, g * inside, inside, cols)
        at = op[WEIGHT] + g * depth * outside
        right = weights[at : at + depth * outside].reshape((depth, outside))
        if groups == 1:
            np.dot(left, right, out[: rows * outside].reshape((rows, outside)))
            continue
        spare = cols[rows * depth : rows * (depth + outside)].reshape((rows, outside))
        np.dot(left, right, spare)
        for i in range(rows):
            copy(spare[i], out[i * op[COUNT] + g * outside : i * op[COUNT] + (g + 1) * outside])


@native(f"void({VEC},{VEC},{VEC},{VEC},{VEC},{VEC},{VEC})")
def _three(line, a, b, c, u, v, w):  # type: ignore[no-untyped-def]
    for i in range(line.size):
        line[i] += a[i] * u[i] + b[i] * v[i] + c[i] * w[i]


@native(f"void({VEC},{VEC},{VEC})")
def _one(line, a, u):  # type: ignore[no-untyped-def]
    for i in range(line.size):
        line[i] += a[i] * u[i]


@native(f"void({VEC},{VEC},{ROW},{ROW},{RUN},{VEC})")
def depthwise(arena, weights, tensor, op, ys, xs, start, stop, out):  # type: ignore[no-untyped-def]
    """Every channel filtered by itself; three taps at a time keep the sums in registers."""
    n = tensor[C]
    step = op[DW] * n
    for i in range(start, stop):
        line = out[(i - start) * n : (i - start + 1) * n]
        line[:] = 0
        base = corner(tensor, op, ys[i], xs[i])
        for ky in range(op[KH]):
            s, t = base + ky * op[DH] * tensor[WP] * n, op[WEIGHT] + ky * op[KW] * n
            left = op[KW]
            while left >= 3:
                _three(
                    line, arena[s : s + n], arena[s + step : s + step + n], arena[s + 2 * step : s + 2 * step + n],
                    weights[t : t + n], weights[t + n : t + 2 * n], weights[t + 2 * n : t + 3 * n],
                )  # fmt: skip
                s, t, left = s + 3 * step, t + 3 * n, left - 3
            while left > 0:
                _one(line, arena[s : s + n], weights[t : t + n])
                s, t, left = s + step, t + n, left - 1


@native(f"void({VEC},{ROW},{ROW},{RUN},{VEC},boolean)")
def pool(arena, tensor, op, ys, xs, start, stop, out, largest):  # type: ignore[no-untyped-def]
    """Largest or mean value under each window; padding never counts as a value."""
    n = tensor[C]
    for i in range(start, stop):
        line = out[(i - start) * n : (i - start + 1) * n]
        line[:] = -np.inf if largest else 0.0
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
        copy(arena[at : at + n], out[(i - start) * n : (i - start + 1) * n])


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
            copy(arena[p00 : p00 + n], line)
            continue
        gy, gx = np.float32(1) - fy, np.float32(1) - fx
        a, b, c, d = arena[p00 : p00 + n], arena[p01 : p01 + n], arena[p10 : p10 + n], arena[p11 : p11 + n]
        for k in range(n):
            line[k] = gy * (gx * a[k] + fx * b[k]) + fy * (gx * c[k] + fx * d[k])
