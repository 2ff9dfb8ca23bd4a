"""Any endpoint that speaks OpenAI's /embeddings."""

from __future__ import annotations

from collections.abc import Sequence

import httpx
import numpy as np

from apps.answers.core.embedding.embedder import EmbedderError, Vectors, unit


class OpenAIEmbedder:
    """Ask an endpoint for vectors; the dimension is checked, or learnt from the first answer when not given.

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
        if not texts:
            return np.empty((0, self.dimension), np.float32)
        try:
            reply = self._client.post(self._url, json={"model": self.model, "input": list(texts)})
            reply.raise_for_status()
            rows = sorted(reply.json()["data"], key=lambda row: row["index"])
            vectors = np.array([row["embedding"] for row in rows], np.float32)
        except (httpx.HTTPError, ValueError, KeyError, TypeError) as problem:
            raise EmbedderError(f"the embedder at {self._url} did not give vectors: {problem}") from problem
        self.dimension = self.dimension or (vectors.shape[1] if vectors.ndim == 2 else 0)
        if vectors.shape != (len(texts), self.dimension):
            wanted = (len(texts), self.dimension)
            raise EmbedderError(f"the embedder gave vectors of shape {vectors.shape}, not {wanted}")
        return unit(vectors)

    def close(self) -> None:
        """Close the connections to the endpoint."""
        self._client.close()
