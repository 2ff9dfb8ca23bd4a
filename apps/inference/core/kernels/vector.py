"""Eight floats at a time: a value type for compiled code, so that sums stay in registers.

Addresses are integers (bytes), as `array.ctypes.data` gives them; loads and stores need no alignment.
"""

from typing import Any

from llvmlite import ir
from numba.core import types
from numba.extending import intrinsic as _intrinsic
from numba.extending import models, register_model

intrinsic: Any = _intrinsic

LANES = 8
BYTES = 4 * LANES
_VECTOR = ir.VectorType(ir.FloatType(), LANES)
_FAST = ("contract", "nnan", "nsz")


class Eight(types.Type):
    """Numba's type of eight floats."""

    def __init__(self, name: str = "Eight") -> None:
        super().__init__(name)


_eight: Any = Eight()


@register_model(Eight)
class _EightModel(models.PrimitiveModel):
    def __init__(self, manager: Any, kind: Any) -> None:
        super().__init__(manager, kind, _VECTOR)  # type: ignore[no-untyped-call]


def _pointer(builder: Any, address: Any) -> Any:
    return builder.inttoptr(address, _VECTOR.as_pointer())


@intrinsic
def load(typing: Any, address: Any) -> Any:
    """Eight floats from an address."""

    def build(context: Any, builder: Any, signature: Any, args: Any) -> Any:
        return builder.load(_pointer(builder, args[0]), align=4)

    return _eight(types.int64), build


@intrinsic
def store(typing: Any, address: Any, value: Any) -> Any:
    """Eight floats to an address."""

    def build(context: Any, builder: Any, signature: Any, args: Any) -> Any:
        builder.store(args[1], _pointer(builder, args[0]), align=4)
        return context.get_dummy_value()

    return types.void(types.int64, _eight), build


@intrinsic
def splat(typing: Any, value: Any) -> Any:
    """One float eight times."""

    def build(context: Any, builder: Any, signature: Any, args: Any) -> Any:
        first = builder.insert_element(ir.Constant(_VECTOR, ir.Undefined), args[0], ir.Constant(ir.IntType(32), 0))
        zero = ir.Constant(ir.VectorType(ir.IntType(32), LANES), [0] * LANES)
        return builder.shuffle_vector(first, ir.Constant(_VECTOR, ir.Undefined), zero)

    return _eight(types.float32), build


@intrinsic
def fma(typing: Any, a: Any, b: Any, c: Any) -> Any:
    """A * b + c, as one instruction where the machine has it."""

    def build(context: Any, builder: Any, signature: Any, args: Any) -> Any:
        product = builder.fmul(args[0], args[1], flags=_FAST)
        return builder.fadd(product, args[2], flags=_FAST)

    return _eight(_eight, _eight, _eight), build


@intrinsic
def add(typing: Any, a: Any, b: Any) -> Any:
    """A + b."""

    def build(context: Any, builder: Any, signature: Any, args: Any) -> Any:
        return builder.fadd(args[0], args[1])

    return _eight(_eight, _eight), build


@intrinsic
def sub(typing: Any, a: Any, b: Any) -> Any:
    """A - b."""

    def build(context: Any, builder: Any, signature: Any, args: Any) -> Any:
        return builder.fsub(args[0], args[1])

    return _eight(_eight, _eight), build


@intrinsic
def largest(typing: Any, a: Any, b: Any) -> Any:
    """The larger of each pair."""

    def build(context: Any, builder: Any, signature: Any, args: Any) -> Any:
        return builder.select(builder.fcmp_ordered(">", args[0], args[1]), args[0], args[1])

    return _eight(_eight, _eight), build


@intrinsic
def smallest(typing: Any, a: Any, b: Any) -> Any:
    """The smaller of each pair."""

    def build(context: Any, builder: Any, signature: Any, args: Any) -> Any:
        return builder.select(builder.fcmp_ordered("<", args[0], args[1]), args[0], args[1])

    return _eight(_eight, _eight), build


@intrinsic
def total(typing: Any, a: Any) -> Any:
    """The sum of all eight."""

    def build(context: Any, builder: Any, signature: Any, args: Any) -> Any:
        parts = [builder.extract_element(args[0], ir.Constant(ir.IntType(32), k)) for k in range(LANES)]
        while len(parts) > 1:
            parts = [builder.fadd(a, b) for a, b in zip(parts[::2], parts[1::2], strict=True)]
        return parts[0]

    return types.float32(_eight), build


@intrinsic
def load_one(typing: Any, address: Any) -> Any:
    """One float from an address."""

    def build(context: Any, builder: Any, signature: Any, args: Any) -> Any:
        return builder.load(builder.inttoptr(args[0], ir.FloatType().as_pointer()))

    return types.float32(types.int64), build


@intrinsic
def store_one(typing: Any, address: Any, value: Any) -> Any:
    """One float to an address."""

    def build(context: Any, builder: Any, signature: Any, args: Any) -> Any:
        builder.store(args[1], builder.inttoptr(args[0], ir.FloatType().as_pointer()))
        return context.get_dummy_value()

    return types.void(types.int64, types.float32), build
