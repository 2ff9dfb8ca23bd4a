"""A program: GPTCache over SQLite and FAISS with our embedder, asked over standard input.

It runs in an environment of its own. GPTCache's own embedders download, so they are never constructed.
"""

from __future__ import annotations

import json
import shutil
import sys
import time
from pathlib import Path
from typing import Any

from apps.answers.core.embedding import MiniLM

COSINE = 0.85


def main() -> None:
    """Read messages, one JSON object a line, and answer each with one line."""
    from gptcache import Cache, Config
    from gptcache.adapter.adapter import adapt
    from gptcache.manager import CacheBase, VectorBase, get_data_manager
    from gptcache.similarity_evaluation.distance import SearchDistanceEvaluation

    folder = Path(sys.argv[1])
    shutil.rmtree(folder, ignore_errors=True)
    folder.mkdir(parents=True)
    embedder, spent = MiniLM(), [0.0]

    def embed(text: str, **_: Any) -> Any:
        started = time.perf_counter()
        vector = embedder.embed([text])[0]
        spent[0] = (time.perf_counter() - started) * 1e3
        return vector

    cache = Cache()
    manager = get_data_manager(
        CacheBase("sqlite", sql_url=f"sqlite:///{folder}/cache.db"),
        VectorBase("faiss", dimension=embedder.dimension, index_path=str(folder / "faiss.index")),
    )
    cache.init(
        pre_embedding_func=lambda data, **_: data["prompt"],
        embedding_func=embed,
        data_manager=manager,
        similarity_evaluation=SearchDistanceEvaluation(),
        config=Config(similarity_threshold=(1 + COSINE) / 2),
    )
    for line in sys.stdin:
        message = json.loads(line)
        if "fill" in message:
            import numpy as np

            texts, vectors = message["fill"]
            manager.import_data(texts, ["An answer."] * len(texts), np.array(vectors, np.float32), [None] * len(texts))
            reply: dict[str, Any] = {"filled": len(texts)}
        else:
            spent[0] = 0.0
            started = time.perf_counter()
            adapt(
                lambda *a, **k: "generated",
                lambda data: data,
                lambda data, update, *a, **k: update(data) or data,
                cache_obj=cache,
                prompt=message["ask"],
            )
            reply = {"ms": (time.perf_counter() - started) * 1e3, "embed_ms": spent[0]}
        print(json.dumps(reply), flush=True)


if __name__ == "__main__":
    main()
