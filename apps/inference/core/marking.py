"""How a dirty mask passes through one layer of each kind (DeepCache, section 4.3).

A mask is one byte a position. A box (y0, y1, x0, x1) bounds what is set, so small changes cost little.
"""

import numpy as np

from apps.inference.core.native import native
from apps.inference.core.program import (
    COLS,
    DH,
    DW,
    KH,
    KW,
    MASK0,
    MASK_OUT,
    MH,
    MOFF,
    MW,
    PL,
    PT,
    ROWS,
    SH,
    SW,
)

_I = "int64"
_M = "uint8[::1]"
_T = "int64[:,::1]"


@native(f"void({_T},{_I},{_I},{_I},{_I},{_I})")
def _grow(boxes, at, y0, y1, x0, x1):  # type: ignore[no-untyped-def]
    if y0 >= y1 or x0 >= x1:
        return
    if boxes[at, 0] >= boxes[at, 1]:
        boxes[at, 0], boxes[at, 1], boxes[at, 2], boxes[at, 3] = y0, y1, x0, x1
        return
    boxes[at, 0], boxes[at, 1] = min(boxes[at, 0], y0), max(boxes[at, 1], y1)
    boxes[at, 2], boxes[at, 3] = min(boxes[at, 2], x0), max(boxes[at, 3], x1)


@native(f"void({_M},{_T},{_T},{_I},{_I})")
def join(masks, table, boxes, source, target):  # type: ignore[no-untyped-def]
    """Add one mask to another of the same size."""
    width = table[source, MW]
    a, b = table[source, MOFF], table[target, MOFF]
    y0, y1, x0, x1 = boxes[source, 0], boxes[source, 1], boxes[source, 2], boxes[source, 3]
    for y in range(y0, y1):
        one = masks[a + y * width + x0 : a + y * width + x1]
        two = masks[b + y * width + x0 : b + y * width + x1]
        for i in range(one.size):
            two[i] |= one[i]
    _grow(boxes, target, y0, y1, x0, x1)


@native(f"{_I}({_I},{_I})")
def _ceil(a, b):  # type: ignore[no-untyped-def]
    return -((-a) // b)


@native(f"void({_M},{_T},{_T},int64[::1],{_M})")
def spread(masks, table, boxes, op, scratch):  # type: ignore[no-untyped-def]
    """An output is dirty when any input under its window is; columns are first joined at stride 1, then sampled."""
    source, target = op[MASK0], op[MASK_OUT]
    width, out_h, out_w = table[source, MW], table[target, MH], table[target, MW]
    a, b = table[source, MOFF], table[target, MOFF]
    y0, y1, x0, x1 = boxes[source, 0], boxes[source, 1], boxes[source, 2], boxes[source, 3]
    if y0 >= y1:
        return
    reach_y, reach_x = (op[KH] - 1) * op[DH], (op[KW] - 1) * op[DW]
    oy0, oy1 = max(0, _ceil(y0 + op[PT] - reach_y, op[SH])), min(out_h, (y1 - 1 + op[PT]) // op[SH] + 1)
    ox0, ox1 = max(0, _ceil(x0 + op[PL] - reach_x, op[SW])), min(out_w, (x1 - 1 + op[PL]) // op[SW] + 1)
    span = x1 - x0
    line, wide = scratch[: span + 2 * reach_x], scratch[span + 2 * reach_x : 2 * span + 3 * reach_x]
    for oy in range(oy0, oy1):
        line[:] = 0
        for k in range(op[KH]):
            iy = oy * op[SH] - op[PT] + k * op[DH]
            if y0 <= iy < y1:
                row = masks[a + iy * width + x0 : a + iy * width + x1]
                middle = line[reach_x : reach_x + span]
                for i in range(span):
                    middle[i] |= row[i]
        wide[:] = 0
        for k in range(op[KW]):
            part = line[k * op[DW] : k * op[DW] + wide.size]
            for i in range(wide.size):
                wide[i] |= part[i]
        # wide[i] answers for a window that starts at input column x0 - reach_x + i
        first = ox0 * op[SW] - op[PL] - x0 + reach_x
        result = masks[b + oy * out_w + ox0 : b + oy * out_w + ox1]
        for i in range(result.size):
            result[i] |= wide[first + i * op[SW]]
    _grow(boxes, target, oy0, oy1, ox0, ox1)


@native(f"UniTuple({_I},2)(float64[::1],{_I},{_I},{_I},{_I})")
def _reached(axes, at, size, low, high):  # type: ignore[no-untyped-def]
    """Bound the output positions along one axis that read an input position in [low, high)."""
    first, last = size, 0
    for i in range(size):
        one, two = int(axes[at + 3 * i]), int(axes[at + 3 * i + 1])
        if low <= one < high or low <= two < high:
            first, last = min(first, i), i + 1
    return first, last


@native(f"void({_M},{_T},{_T},int64[::1],float64[::1],{_M})")
def stretch(masks, table, boxes, op, axes, scratch):  # type: ignore[no-untyped-def]
    """An output is dirty when one of its two rows is in one of its two columns; equal rows are made once."""
    source, target = op[MASK0], op[MASK_OUT]
    height, width, out_h, out_w = table[source, MH], table[source, MW], table[target, MH], table[target, MW]
    a, b = table[source, MOFF], table[target, MOFF]
    y0, y1, x0, x1 = boxes[source, 0], boxes[source, 1], boxes[source, 2], boxes[source, 3]
    oy0, oy1 = _reached(axes, op[ROWS], out_h, y0, y1)
    ox0, ox1 = _reached(axes, op[COLS], out_w, x0, x1)
    if oy0 >= oy1 or ox0 >= ox1:
        return
    columns = axes[op[COLS] + 3 * ox0 : op[COLS] + 3 * ox1].astype(np.int64)
    line, wide = scratch[:width], scratch[width : width + ox1 - ox0]
    line[:] = 0
    inside, before, some = line[x0:x1], -1, np.uint8(0)
    for oy in range(oy0, oy1):
        r0, r1 = int(axes[op[ROWS] + 3 * oy]), int(axes[op[ROWS] + 3 * oy + 1])
        if r0 * height + r1 != before:
            before, some = r0 * height + r1, np.uint8(0)
            upper = masks[a + r0 * width + x0 : a + r0 * width + x1]
            lower = masks[a + r1 * width + x0 : a + r1 * width + x1]
            for i in range(inside.size):
                inside[i] = upper[i] | lower[i]
                some |= inside[i]
            for i in range(wide.size if some else 0):
                wide[i] = line[columns[3 * i]] | line[columns[3 * i + 1]]
        result = masks[b + oy * out_w + ox0 : b + oy * out_w + ox1]
        for i in range(result.size if some else 0):
            result[i] |= wide[i]
    _grow(boxes, target, oy0, oy1, ox0, ox1)


@native(f"void({_M},{_T},{_T},int64[::1])")
def rim(masks, table, boxes, op):  # type: ignore[no-untyped-def]
    """After a shift, what a window reads from the padding is not what it read before: all such outputs are dirty."""
    source, target = op[MASK0], op[MASK_OUT]
    height, width, out_h, out_w = table[source, MH], table[source, MW], table[target, MH], table[target, MW]
    b = table[target, MOFF]
    for oy in range(out_h):
        top = oy * op[SH] - op[PT]
        outside = top < 0 or top + (op[KH] - 1) * op[DH] >= height
        for ox in range(out_w):
            left = ox * op[SW] - op[PL]
            if outside or left < 0 or left + (op[KW] - 1) * op[DW] >= width:
                masks[b + oy * out_w + ox] = 1
    _grow(boxes, target, 0, out_h, 0, out_w)


@native(f"void({_M},{_T},{_T},{_I})")
def fill(masks, table, boxes, at):  # type: ignore[no-untyped-def]
    """Set a whole mask."""
    masks[table[at, MOFF] : table[at, MOFF] + table[at, MH] * table[at, MW]] = 1
    boxes[at, 0], boxes[at, 1], boxes[at, 2], boxes[at, 3] = 0, table[at, MH], 0, table[at, MW]


@native(f"boolean({_M},{_T},{_T},{_I})")
def dirty(masks, table, boxes, at):  # type: ignore[no-untyped-def]
    """Say whether a mask holds anything."""
    for y in range(boxes[at, 0], boxes[at, 1]):
        start = table[at, MOFF] + y * table[at, MW]
        for x in range(boxes[at, 2], boxes[at, 3]):
            if masks[start + x] != 0:
                return True
    return False
