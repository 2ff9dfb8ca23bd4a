"""Linear maps in whole numbers, one core: activations int16 times weights int8, summed in int32.

Rows of 16 numbers are multiplied and summed in pairs by one instruction (pmaddwd on x86), which does twice the work of
a float multiply-add and reads a quarter of the bytes. Written as LLVM vectors, since compilers do not find it by
themselves; without AVX2 the same sums are spelled out in plain vector operations.

Everything compiled here calls only what is compiled here: numba's cache does not notice changes in other files.
"""

from __future__ import annotations

from typing import Any

import numba
import numpy as np
from llvmlite import binding, ir
from numba.core import types
from numba.extending import intrinsic

STEP = 16
PAIRED = binding.get_host_cpu_features().get("avx2", False)
WORD = ir.IntType(64)
SUM = ir.IntType(32)
SUMS = ir.VectorType(SUM, STEP // 2)
ACTIVATIONS = ir.VectorType(ir.IntType(16), STEP)
WEIGHTS = ir.VectorType(ir.IntType(8), STEP)


def _tile(rows: int, columns: int) -> Any:
    """Make the inner loop for a tile: rows of activations times columns of weights, along their common length."""

    @intrinsic
    def tile(context: Any, a: Any, a_stride: Any, w: Any, w_stride: Any, length: Any, out: Any, out_stride: Any) -> Any:
        """Take addresses and strides in bytes; writes rows x columns int32."""

        def generate(target: Any, builder: Any, signature: Any, arguments: Any) -> Any:
            _emit(builder, rows, columns, arguments)
            return target.get_dummy_value()

        return types.void(*(types.intp,) * 7), generate

    return tile


def _emit(builder: Any, rows: int, columns: int, arguments: Any) -> None:
    a, a_stride, w, w_stride, length, out, out_stride = arguments
    cells = [(row, column) for row in range(rows) for column in range(columns)]
    before = builder.block
    loop, end = builder.append_basic_block("loop"), builder.append_basic_block("end")
    builder.branch(loop)
    builder.position_at_end(loop)
    place = builder.phi(WORD)
    place.add_incoming(WORD(0), before)
    sums = {cell: builder.phi(SUMS) for cell in cells}
    weights = [_load(builder, w, w_stride, column, place, WEIGHTS) for column in range(columns)]
    weights = [builder.sext(weight, ACTIVATIONS) for weight in weights]
    twice = builder.shl(place, WORD(1))
    inputs = [_load(builder, a, a_stride, row, twice, ACTIVATIONS) for row in range(rows)]
    fresh = {(row, column): builder.add(sums[row, column], _pairs(builder, inputs[row], weights[column]))
             for row, column in cells}  # fmt: skip
    following = builder.add(place, WORD(STEP))
    place.add_incoming(following, loop)
    for cell in cells:
        sums[cell].add_incoming(ir.Constant(SUMS, [0] * SUMS.count), before)
        sums[cell].add_incoming(fresh[cell], loop)
    builder.cbranch(builder.icmp_signed("<", following, length), loop, end)
    builder.position_at_end(end)
    total = _function(builder, "llvm.vector.reduce.add.v8i32", SUM, [SUMS])
    for row, column in cells:
        offset = builder.add(builder.mul(out_stride, WORD(row)), WORD(4 * column))
        address = builder.inttoptr(builder.add(out, offset), SUM.as_pointer())
        builder.store(builder.call(total, [fresh[row, column]]), address)


def _load(builder: Any, base: Any, stride: Any, index: int, place: Any, kind: Any) -> Any:
    address = builder.add(base, builder.add(builder.mul(stride, WORD(index)), place))
    return builder.load(builder.inttoptr(address, kind.as_pointer()), align=1)


def _pairs(builder: Any, left: Any, right: Any) -> Any:
    """Multiply 16 numbers by 16 and sum neighbours: 8 int32."""
    if PAIRED:
        return builder.call(_function(builder, "llvm.x86.avx2.pmadd.wd", SUMS, [ACTIVATIONS] * 2), [left, right])
    nothing, products = ir.Constant(ACTIVATIONS, ir.Undefined), []
    for first in (0, 1):
        mask = ir.Constant(SUMS, list(range(first, STEP, 2)))
        one, other = (builder.sext(builder.shuffle_vector(side, nothing, mask), SUMS) for side in (left, right))
        products.append(builder.mul(one, other))
    return builder.add(*products)


def _function(builder: Any, name: str, result: Any, arguments: list[Any]) -> Any:
    known = builder.module.globals.get(name)
    return known or ir.Function(builder.module, ir.FunctionType(result, arguments), name)


_four_by_two = _tile(4, 2)
_three_by_two = _tile(3, 2)
ROWS_AT_ONCE = 24  # so many rows of activations stay in the nearest cache
LARGEST_SUM = (2**31 - 1) / 127  # so that no sum of products leaves int32


def rows_for(count: int) -> int:
    """Give the number of rows, at least `count`, that tiles of three and four rows can cover."""
    return count if count >= 9 or count % 4 == 0 else (count + 3) // 4 * 4


@numba.njit(nogil=True, cache=True)
def multiply(a: Any, w: Any, out: Any) -> None:
    """Multiply a (rows, length) int16 by w (columns, length) int8 into out (rows, columns) int32.

    `rows` must come from `rows_for`, `length` be a multiple of 16, `columns` even; sums must fit int32.
    """
    rows, length = a.shape
    columns = w.shape[0]
    threes = 3 * ((-rows) % 4)
    start, stop = 0, min(threes + ROWS_AT_ONCE // 2, rows)
    while start < rows:
        for column in range(0, columns, 2):
            row = start
            weights = w.ctypes.data + column * length
            while row < stop:
                inputs = a.ctypes.data + row * length * 2
                target = out.ctypes.data + (row * columns + column) * 4
                if row < threes:
                    _three_by_two(inputs, length * 2, weights, length, length, target, columns * 4)
                    row += 3
                else:
                    _four_by_two(inputs, length * 2, weights, length, length, target, columns * 4)
                    row += 4
        start, stop = stop, min(stop + ROWS_AT_ONCE, rows)


@numba.njit(nogil=True, cache=True, fastmath=True, error_model="numpy")
def linear(state: Any, weights: Any, scale: Any, bias: Any) -> Any:
    """Map rows (rows, length) float32 by int8 weights (columns, length); returns (rows, columns) float32.

    Each row is rounded to whole numbers of 13 to 15 bits by its own scale, so rows do not depend on each other.
    """
    rows, length = state.shape
    whole = np.empty((rows, length), np.int16)
    steps = np.empty(rows, np.float32)
    bound = np.float32(min(32_767, int(LARGEST_SUM / length)))
    for row in range(rows):
        largest = np.float32(0)
        for column in range(length):
            largest = max(largest, abs(state[row, column]))
        steps[row] = largest / bound
        inverse = bound / largest if largest > 0 else np.float32(0)
        for column in range(length):
            value = state[row, column] * inverse
            whole[row, column] = np.int16(value + np.float32(0.5 if value >= 0 else -0.5))
    sums = np.empty((rows, weights.shape[0]), np.int32)
    multiply(whole, weights, sums)
    out = np.empty((rows, weights.shape[0]), np.float32)
    for row in range(rows):
        for column in range(weights.shape[0]):
            out[row, column] = np.float32(sums[row, column]) * (steps[row] * scale[column]) + bias[column]
    return out
