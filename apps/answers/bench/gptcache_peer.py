"""A program: GPTCache over SQLite and FAISS with our embedder, asked over standard input.

It runs in an environment of its own. GPTCache's own embedders download, so they are never constructed.
"""

from __future__ import annotations

import json
import sys
import time
from pathlib import Path
from typing import Any

import numpy as np

from apps.answers.core.embedding import MiniLM

COSINE = 0.85
BATCH = 5_000
ANSWER = "An answer."


def main() -> None:
    """Fill the cache from a folder's questions.json and vectors.npy, then answer each line with one line."""
    from gptcache.adapter.adapter import adapt

    folder = Path(sys.argv[1])
    embedder, spent = MiniLM(), [0.0]

    def embed(text: str, **_: Any) -> Any:
        started = time.perf_counter()
        vector = embedder.embed([text])[0]
        spent[0] = (time.perf_counter() - started) * 1e3
        return vector

    cache = opened(folder, embed, embedder.dimension)
    print(json.dumps({"filled": fill(cache, folder)}), flush=True)
    for line in sys.stdin:
        spent[0] = 0.0
        started = time.perf_counter()
        reply = adapt(
            lambda *a, **k: "generated",
            lambda data: data,
            lambda data, update, *a, **k: data,  # a look-aside miss writes nothing, here as there
            cache_obj=cache,
            prompt=json.loads(line)["ask"],
        )
        told = {"ms": (time.perf_counter() - started) * 1e3, "embed_ms": spent[0], "hit": reply == ANSWER}
        print(json.dumps(told), flush=True)


def opened(folder: Path, embed: Any, dimension: int) -> Any:
    """Set up the cache as its documentation does, with room for everything: by default it keeps 1,000 entries."""
    from gptcache import Cache, Config
    from gptcache.manager import CacheBase, VectorBase, get_data_manager
    from gptcache.similarity_evaluation.distance import SearchDistanceEvaluation

    cache = Cache()
    manager = get_data_manager(
        CacheBase("sqlite", sql_url=f"sqlite:///{folder}/cache.db"),
        VectorBase("faiss", dimension=dimension, index_path=str(folder / "faiss.index")),
        max_size=1_000_000,
    )
    cache.init(
        pre_embedding_func=lambda data, **_: data["prompt"],
        embedding_func=embed,
        data_manager=manager,
        similarity_evaluation=SearchDistanceEvaluation(),
        config=Config(similarity_threshold=(1 + COSINE) / 2),
    )
    return cache


def fill(cache: Any, folder: Path) -> int:
    """Import all questions with their vectors; returns how many."""
    texts: list[str] = json.loads((folder / "questions.json").read_text())
    vectors = np.load(folder / "vectors.npy")
    for start in range(0, len(texts), BATCH):
        part = texts[start : start + BATCH]
        vectors_of_part = vectors[start : start + BATCH]
        cache.data_manager.import_data(part, [ANSWER] * len(part), vectors_of_part, [None] * len(part))
    return len(texts)


if __name__ == "__main__":
    main()
