"""Remember the vectors of recent texts."""

from __future__ import annotations

from collections import OrderedDict
from collections.abc import Sequence
from threading import Lock

import numpy as np

from apps.answers.core.embedding.embedder import Embedder, Vectors
from apps.answers.core.text import normalise


class RememberingEmbedder:
    """Remember the vectors of recent texts by their normal form; the least recently used are forgotten first."""

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
        missing: dict[str, str] = {}
        for key, text in zip(keys, texts, strict=True):
            if key not in known:
                missing.setdefault(key, text)
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
