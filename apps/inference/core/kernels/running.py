"""The compiled loop: for every layer, positions from its mask, compute, finish, next."""

import numpy as np

from apps.inference.core.kernels import compute, finish, winograd
from apps.inference.core.kernels.compute import POS, ROW, VEC
from apps.inference.core.native import native
from apps.inference.core.network.layers import Act, Kind
from apps.inference.core.program import (
    ACT,
    BIAS,
    COUNT,
    GROUPS,
    IN0,
    IN1,
    KH,
    KIND,
    KW,
    MASK0,
    MASK_OUT,
    MOFF,
    MW,
    OUT,
    PART,
    TILES,
    C,
)  # fmt: skip
from apps.inference.core.regions import follow

_TABLE = "int64[:,::1]"
_CONV, _DEPTHWISE, _GROUPED, _MAXPOOL, _AVGPOOL, _UNARY, _BINARY, _COPY = (int(k) for k in list(Kind)[:8])
_GLOBAL, _GATE, _SHUFFLE = int(Kind.GLOBAL), int(Kind.GATE), int(Kind.SHUFFLE)
_NONE, _CLIP, _AFFINE = int(Act.NONE), int(Act.CLIP), int(Act.AFFINE)


@native(f"int64(uint8[::1],{_TABLE},{_TABLE},int64,{POS},{POS})")
def collect(masks, table, boxes, at, ys, xs):  # type: ignore[no-untyped-def]
    """List the set positions of a mask; returns how many."""
    n, width, start = 0, table[at, MW], table[at, MOFF]
    for y in range(boxes[at, 0], boxes[at, 1]):
        for x in range(boxes[at, 2], boxes[at, 3]):
            ys[n], xs[n] = y, x
            n += masks[start + y * width + x]
    return n


@native(f"int64({ROW},{ROW},int64,int64)")
def rows_of(op, source, cols_size, out_size):  # type: ignore[no-untyped-def]
    """Positions per chunk, so that the gathered pixels and the results stay in the second-level cache."""
    depth = 0
    if op[KIND] == _CONV or op[KIND] == _GROUPED:
        depth = op[KH] * op[KW] * source[C] // op[GROUPS] + op[COUNT] // op[GROUPS]
    rows = min(out_size // op[COUNT], cols_size // depth if depth > 0 else out_size)
    wanted = max(np.int64(192), np.int64(98304) // (depth + op[COUNT]))
    return max(np.int64(1), min(rows, wanted))


@native(
    f"void({VEC},{VEC},float64[::1],{ROW},{ROW},{ROW},{ROW},{POS},{POS},int64,int64,{VEC},{VEC},boolean,float32,float32)"
)
def fill_rows(  # type: ignore[no-untyped-def]
    arena, weights, axes, op, one, two, result, ys, xs, start, stop, cols, out, direct, low, top
):  # fmt: skip
    """Compute one chunk of one layer; only a depthwise filter knows how to write its place directly."""
    kind = op[KIND]
    if kind in (_CONV, _GROUPED):
        compute.convolve(arena, weights, one, op, ys, xs, start, stop, cols, out)
    elif kind == _DEPTHWISE:
        compute.depthwise(arena, weights, one, result, op, ys, xs, start, stop, out, direct, low, top)
    elif kind in (_MAXPOOL, _AVGPOOL):
        compute.pool(arena, one, op, ys, xs, start, stop, out, kind == _MAXPOOL)
    elif kind == _BINARY:
        compute.binary(arena, one, two, op, ys, xs, start, stop, out)
    elif kind in (_UNARY, _COPY):
        compute.take(arena, one, op, ys, xs, start, stop, out)
        if op[ACT] == _AFFINE:
            finish.scale(out, weights, op, stop - start)
    elif kind == _GLOBAL:
        compute.mean(arena, one, out)
    elif kind == _GATE:
        compute.gate(arena, one, two, op, ys, xs, start, stop, out)
    elif kind == _SHUFFLE:
        compute.shuffle(arena, one, op, ys, xs, start, stop, out)
    else:
        compute.resize(arena, axes, one, op, ys, xs, start, stop, out)


@native(f"void({VEC},{VEC},{ROW},{ROW},{ROW},float32[::1],{POS},{POS},int64,int64,{VEC},float32,uint8[::1],{ROW})")
def close_rows(  # type: ignore[no-untyped-def]
    arena, weights, op, two, result, params, ys, xs, start, stop, out, limit, masks, mask
):  # fmt: skip
    """Bias, residual, activation, comparison and write-back of a chunk's rows, in as few passes as can be."""
    adds = op[IN1] >= 0 and op[KIND] != _BINARY and op[KIND] != _GATE
    clips = op[ACT] in (_NONE, _CLIP, _AFFINE)
    direct = clips and (limit < 0 or op[KIND] == _COPY)
    low, top = np.float32(-np.inf), np.float32(np.inf)
    if op[ACT] == _CLIP:
        low, top = params[0], params[1]
    bias = op[BIAS] if op[KIND] in (_CONV, _GROUPED) else 0
    compares = limit >= 0 and op[KIND] != _COPY
    if not (clips and compares):
        finish.close(out, arena, weights, result, two, op, ys, xs, start, stop, bias, adds, direct, low, top)
        # The first weights are zeros: the bias of what has had its own.
        bias, adds = np.int64(0), False
    if not clips:
        finish.activate(out[: (stop - start) * op[COUNT]], op[ACT], params[0], params[1])
    if compares:
        finish.settle(
            out, arena, weights, result, two, op, ys, xs, start, stop, bias, adds, low, top, limit, masks, mask
        )
    elif not direct:
        finish.scatter(out, arena, result, op, ys, xs, start, stop)


@native(
    f"void({VEC},{VEC},{ROW},{ROW},{ROW},{ROW},float32[::1],{POS},{POS},{POS},{POS},int64,{VEC},{VEC},float32,uint8[::1],{ROW})"
)
def run_tiles(  # type: ignore[no-untyped-def]
    arena, weights, op, one, two, result, params, tys, txs, ys, xs, count, cols, out, limit, masks, mask
):  # fmt: skip
    """A layer by tiles; the list of positions is overwritten."""
    step = min(cols.size // (16 * (one[C] + op[COUNT])), out.size // (4 * op[COUNT]) - 1, np.int64(160))
    for start in range(0, count, step):
        stop = min(start + step, count)
        n = winograd.convolve(arena, weights, one, op, masks, mask, tys, txs, start, stop, cols, out, ys, xs)
        close_rows(arena, weights, op, two, result, params, ys, xs, 0, n, out, limit, masks, mask)


@native(
    f"void({VEC},{VEC},float64[::1],{ROW},{ROW},{ROW},{ROW},float32[::1],{POS},{POS},int64,int64,{VEC},{VEC},float32,"
    f"uint8[::1],{ROW})"
)
def run_chunk(  # type: ignore[no-untyped-def]
    arena, weights, axes, op, one, two, result, params, ys, xs, start, stop, cols, out, limit, masks, mask
):  # fmt: skip
    """Compute a chunk of positions and write it back."""
    adds = op[IN1] >= 0 and op[KIND] != _BINARY and op[KIND] != _GATE
    direct = op[ACT] in (_NONE, _CLIP) and limit < 0
    low, top = np.float32(-np.inf), np.float32(np.inf)
    alone = op[KIND] == _DEPTHWISE and direct and not adds
    if alone and op[ACT] == _CLIP:
        low, top = params[0], params[1]
    fill_rows(arena, weights, axes, op, one, two, result, ys, xs, start, stop, cols, out, alone, low, top)
    if not alone:
        close_rows(arena, weights, op, two, result, params, ys, xs, start, stop, out, limit, masks, mask)


@native(
    f"void({_TABLE},{_TABLE},{_TABLE},uint8[::1],{_TABLE},{_TABLE},float64[::1],uint8[::1],boolean,boolean,{VEC},{VEC},"
    f"float32[:,::1],{VEC},{POS},{POS},{POS},{POS},{VEC},{VEC},{ROW})"
)
def run(  # type: ignore[no-untyped-def]
    layers, tensors, mtable, masks, boxes, shift, axes, spare, moved, known, arena, weights, params, tolerance,
    ys, xs, tys, txs, cols, out, counts,
):  # fmt: skip
    """Run all layers on their dirty positions; `known` says the masks were predicted and hold as they are."""
    last, n = np.int64(-1), np.int64(0)
    for i in range(layers.shape[0]):
        op = layers[i]
        if not known:
            follow(masks, mtable, boxes, op, shift, axes, spare, moved, False)
        source, target = tensors[op[IN0]], tensors[op[OUT]]
        second = tensors[max(op[IN1], 0)]
        mask = op[MASK0] if op[PART] == 1 and op[KIND] == _COPY else op[MASK_OUT]
        if mask != last or not known:
            n = collect(masks, mtable, boxes, mask, ys, xs)
            last = mask
        counts[i] = n
        limit = tolerance[op[OUT]]
        if op[TILES] > 0:
            count = winograd.tiles(masks, mtable, boxes, mask, tys, txs)
            # Reading the weights costs as much as some rows; the transforms cost a tenth.
            if 18 * (count + 24) < 9 * (n + 24):
                run_tiles(
                    arena, weights, op, source, second, target, params[i], tys, txs, ys, xs, count, cols, out, limit,
                    masks, mtable[op[MASK_OUT]],
                )  # fmt: skip
                last = np.int64(-1)
                continue
        step = rows_of(op, source, cols.size, out.size)
        for start in range(0, n, step):
            run_chunk(
                arena, weights, axes, op, source, second, target, params[i], ys, xs, start, min(start + step, n),
                cols, out, limit, masks, mtable[op[MASK_OUT]],
            )  # fmt: skip
