"""The engine: plain Python, numpy, numba and onnxruntime, no Django."""

import os
from pathlib import Path

# Compiled kernels are kept with the rest of the installation's data, so that a second start is fast.
_VAR = Path(os.environ.get("TOUCHSTONE_VAR") or Path(__file__).resolve().parents[3] / "var")
os.environ.setdefault("NUMBA_CACHE_DIR", str(_VAR.absolute() / "numba"))
