"""Where compiled kernels are kept: a folder named after the sources they were compiled from.

Numba notices a change of a function's own file, not of the files whose functions were compiled into it; kernels out of
step with each other write where they must not. So each state of the sources has a folder of its own.
"""

from __future__ import annotations

import hashlib
import os
import shutil
from pathlib import Path

CHECKOUT = Path(__file__).resolve().parents[2]


def keep_apart() -> None:
    """Point numba at the folder of the present sources, and remove the folders of earlier ones."""
    if "NUMBA_CACHE_DIR" in os.environ:
        return
    home = CHECKOUT / "var" / "kernels"
    folder = home / digest()
    os.environ["NUMBA_CACHE_DIR"] = str(folder)
    for other in home.iterdir() if home.is_dir() else ():
        if other != folder:
            shutil.rmtree(other, ignore_errors=True)


def digest() -> str:
    """Give a digest of every source under apps/*/core."""
    state = hashlib.sha256()
    for path in sorted((CHECKOUT / "apps").glob("*/core/**/*.py")):
        state.update(str(path.relative_to(CHECKOUT)).encode() + path.read_bytes())
    return state.hexdigest()[:16]
