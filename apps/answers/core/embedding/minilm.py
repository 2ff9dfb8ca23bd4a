"""all-MiniLM-L6-v2 on one CPU core, from installed packages, without a network."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from apps.answers.core.embedding import weights as published
from apps.answers.core.embedding.embedder import Vectors, unit

WARM_UP = "The first call compiles."


class MiniLM:
    """Mean-pooled all-MiniLM-L6-v2 with int8 weights: 384 dimensions, texts cut after 256 tokens.

    Weights and tokenizer are refused unless their sha256 is the published one. Texts run one by one and are never
    padded, so a text alone and in a batch gets the same vector. Safe to call from several threads.
    """

    name = "minilm-l6-v2-int8"
    dimension = published.WIDTH
    longest = 256

    def __init__(self) -> None:
        from tokenizers import Tokenizer

        from apps.answers.core.embedding.forward import Forward

        tokenizer = published.packaged(*published.TOKENIZER, published.TOKENIZER_SHA256)
        self._tokenizer: Any = Tokenizer.from_str(tokenizer.decode())
        self._tokenizer.no_padding()
        self._tokenizer.enable_truncation(self.longest)
        model = published.packaged(published.PACKAGE, published.FILE, published.SHA256)
        self._forward = Forward(published.read(model))
        self.embed([WARM_UP])

    def embed(self, texts: Sequence[str]) -> Vectors:
        """Embed n texts; returns (n, 384) float32 with rows of length 1."""
        if not texts:
            return np.empty((0, self.dimension), np.float32)
        encodings = self._tokenizer.encode_batch(list(texts))
        return unit(np.stack([self._forward(np.array(encoding.ids, np.int64)) for encoding in encodings]))
