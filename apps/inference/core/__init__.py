"""The engine: plain Python, numpy, numba and onnxruntime, no Django."""
