"""The engine: plain Python, numpy, numba and onnxruntime, no Django."""

import hashlib
import os
from pathlib import Path


def _kernel_cache() -> Path:
    """Where compiled kernels are kept: with the installation's data, apart for every version of their sources.

    A kernel holds the code of those it calls, and numba looks at the time of one file only.
    """
    here = Path(__file__).resolve().parent
    data = Path(os.environ.get("TOUCHSTONE_VAR") or here.parents[2] / "var")
    digest = hashlib.sha256()
    compiled = [here / f"{name}.py" for name in ("blocks", "motion", "native", "plain", "program", "regions")]
    for path in sorted([*compiled, here / "network" / "layers.py", *here.glob("kernels/*.py")]):
        digest.update(path.read_bytes())
    return data.absolute() / "numba" / digest.hexdigest()[:16]


os.environ.setdefault("NUMBA_CACHE_DIR", str(_kernel_cache()))
