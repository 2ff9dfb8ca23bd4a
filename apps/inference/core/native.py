"""How kernels are compiled: fixed signatures, kept on disk, without the interpreter's lock."""

from collections.abc import Callable
from typing import Any

import numba


def native(signature: str, *, reorder: bool = False, inside: bool = False) -> Callable[[Callable[..., Any]], Any]:
    """Compile for one signature; sums keep their order unless `reorder`, but a product and a sum may become one.

    `inside`: the code becomes part of every caller.
    """
    fastmath: bool | set[str] = True if reorder else {"contract"}
    return numba.njit(signature, cache=True, nogil=True, fastmath=fastmath, forceinline=inside)
