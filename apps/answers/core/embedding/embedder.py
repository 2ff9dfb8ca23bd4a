"""What an embedder is: the only door between the answers cache and a language model for vectors."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Protocol

import numpy as np
from numpy.typing import NDArray

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


def unit(vectors: Vectors) -> Vectors:
    """Scale rows to length 1.

    Raises:
        EmbedderError: a row is zero or not finite.
    """
    lengths = np.linalg.norm(vectors, axis=1, keepdims=True)
    if not np.isfinite(lengths).all() or (lengths == 0).any():
        raise EmbedderError("the embedder gave a vector without a direction")
    return np.asarray(vectors / lengths, np.float32)
