"""Embedders: the same text gives the same vector wherever it stands, and only the published weights are used."""

import json
import threading
from collections.abc import Iterator, Sequence
from contextlib import closing, contextmanager
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any

import numpy as np
import onnxruntime
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from apps.answers.core.embedding import EmbedderError, MiniLM, OpenAIEmbedder, RememberingEmbedder, Vectors, weights
from apps.answers.core.embedding.product import linear, multiply, rows_for

QUESTIONS = [
    "How do I activate my card?",
    "hi",
    "",
    "Wie sperre ich meine Karte? 🙂",
    "My transfer to a friend abroad has been pending for a week and I would like to know when it will arrive, please.",
    "word " * 400,
]


@pytest.fixture(scope="module")
def minilm() -> MiniLM:
    return MiniLM()


def by_onnxruntime(minilm: MiniLM, texts: Sequence[str]) -> Vectors:
    model = weights.packaged(weights.PACKAGE, weights.FILE, weights.SHA256)
    options = onnxruntime.SessionOptions()
    options.intra_op_num_threads = 1
    session = onnxruntime.InferenceSession(model, options, providers=["CPUExecutionProvider"])
    found = []
    for text in texts:
        ids = np.array([minilm._tokenizer.encode(text).ids], np.int64)
        feed = {"input_ids": ids, "attention_mask": np.ones_like(ids), "token_type_ids": np.zeros_like(ids)}
        mean = session.run(None, feed)[0][0].mean(axis=0)
        found.append(mean / np.linalg.norm(mean))
    return np.array(found, np.float32)


def test_vectors_are_those_of_the_published_network(minilm: MiniLM) -> None:
    ours, theirs = minilm.embed(QUESTIONS), by_onnxruntime(minilm, QUESTIONS)
    assert (ours * theirs).sum(1) == pytest.approx(1, abs=1e-5)
    assert ours == pytest.approx(theirs, abs=1e-3)


def test_a_text_alone_and_in_a_batch_has_one_vector(minilm: MiniLM) -> None:
    together = minilm.embed(QUESTIONS)
    alone = np.concatenate([minilm.embed([question]) for question in QUESTIONS])
    assert (together == alone).all()


def test_vectors_have_length_one_and_the_promised_dimension(minilm: MiniLM) -> None:
    vectors = minilm.embed(QUESTIONS)
    assert vectors.shape == (len(QUESTIONS), minilm.dimension)
    assert vectors.dtype == np.float32
    assert np.linalg.norm(vectors, axis=1) == pytest.approx(1, abs=1e-5)
    assert minilm.embed([]).shape == (0, minilm.dimension)


def test_what_means_the_same_is_nearer_than_what_does_not(minilm: MiniLM) -> None:
    lost, missing, weather = minilm.embed(["I lost my card", "My card is missing", "Will it rain tomorrow?"])
    assert lost @ missing > 0.7
    assert lost @ weather < 0.3


def test_threads_share_one_network(minilm: MiniLM) -> None:
    expected, seen = minilm.embed(QUESTIONS[:2]), []
    threads = [threading.Thread(target=lambda: seen.append(minilm.embed(QUESTIONS[:2]))) for _ in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert len(seen) == 4
    assert all((vectors == expected).all() for vectors in seen)


def test_other_weights_are_refused() -> None:
    with pytest.raises(EmbedderError, match="refused"):
        weights.packaged(weights.PACKAGE, weights.FILE, "0" * 64)
    with pytest.raises(EmbedderError, match="not installed"):
        weights.packaged("no_such_package_here", weights.FILE, weights.SHA256)


@settings(deadline=None, max_examples=60)
@given(st.integers(1, 80), st.integers(1, 6), st.integers(0, 2**32 - 1))
def test_products_are_exact_for_every_number_of_rows(count: int, steps: int, seed: int) -> None:
    random = np.random.default_rng(seed)
    rows = rows_for(count)
    a = random.integers(-2047, 2048, (rows, 16 * steps)).astype(np.int16)
    w = random.integers(-127, 128, (6, 16 * steps)).astype(np.int8)
    out = np.full((rows + 1, 6), 7, np.int32)
    multiply(a, w, out[:rows])
    assert (out[:rows] == a.astype(np.int64) @ w.T.astype(np.int64)).all()
    assert (out[rows:] == 7).all(), "wrote behind its result"


def test_a_row_of_a_linear_map_does_not_depend_on_its_neighbours() -> None:
    random = np.random.default_rng(0)
    state = random.normal(size=(12, 384)).astype(np.float32)
    w = random.integers(-127, 128, (8, 384)).astype(np.int8)
    scale, bias = np.full(8, 0.01, np.float32), np.zeros(8, np.float32)
    first = linear(state, w, scale, bias)
    state[1:] *= 1000
    assert (linear(state, w, scale, bias)[0] == first[0]).all()


class Counting:
    """Embeds by length, and counts what it was asked."""

    name = "counting"
    dimension = 2

    def __init__(self) -> None:
        self.asked: list[str] = []

    def embed(self, texts: Sequence[str]) -> Vectors:
        self.asked += texts
        return np.array([[len(text), 1.0] for text in texts], np.float32)


def test_a_remembered_text_is_not_embedded_again() -> None:
    inner = Counting()
    embedder = RememberingEmbedder(inner, 2)
    first = embedder.embed(["How?", "Why so?", "how?  "])
    assert inner.asked == ["How?", "Why so?"]
    assert (embedder.embed(["HOW?"])[0] == first[0]).all()
    embedder.embed(["new"])
    embedder.embed(["why so?"])
    assert inner.asked == ["How?", "Why so?", "new", "why so?"], "the least recently used is forgotten"


@contextmanager
def endpoint(reply: Any, status: int = 200) -> Iterator[str]:
    class Handler(BaseHTTPRequestHandler):
        def do_POST(self) -> None:
            self.rfile.read(int(self.headers["content-length"]))
            body = reply if isinstance(reply, bytes) else json.dumps(reply).encode()
            self.send_response(status)
            self.send_header("content-length", str(len(body)))
            self.end_headers()
            self.wfile.write(body)

        def log_message(self, format: str, *args: Any) -> None:
            pass

    with ThreadingHTTPServer(("127.0.0.1", 0), Handler) as server:
        thread = threading.Thread(target=server.serve_forever, args=(0.01,))
        thread.start()
        yield f"http://127.0.0.1:{server.server_port}/v1"
        server.shutdown()
        thread.join()


def data(*vectors: Sequence[float]) -> dict[str, Any]:
    return {"data": [{"index": index, "embedding": vector} for index, vector in enumerate(vectors)][::-1]}


def test_vectors_from_an_endpoint_come_in_order_and_with_length_one() -> None:
    with endpoint(data([3, 4], [0, 2])) as url, closing(OpenAIEmbedder(url, "m")) as embedder:
        assert embedder.embed(["a", "b"]).tolist() == pytest.approx(np.array([[0.6, 0.8], [0, 1]]))
        assert embedder.dimension == 2
        assert embedder.embed([]).shape == (0, 2)


@pytest.mark.parametrize(
    ("reply", "status"),
    [
        (data([3, 4]), 500),
        (data([3, 4]), 429),
        (b"prose", 200),
        ({"data": "no"}, 200),
        ({"data": [{"index": 0}]}, 200),
        (data([1, 2, 3]), 200),
        (data([1, 2], [3, 4]), 200),
        (data([0, 0]), 200),
        (b'{"data": [{"index": 0, "embedding": [NaN, 1]}]}', 200),
    ],
)
def test_an_endpoint_that_gives_no_usable_vectors_is_an_error(reply: Any, status: int) -> None:
    with (
        endpoint(reply, status) as url,
        closing(OpenAIEmbedder(url, "m", dimension=2)) as embedder,
        pytest.raises(EmbedderError),
    ):
        embedder.embed(["a"])


def test_an_endpoint_that_is_not_there_is_an_error() -> None:
    with closing(OpenAIEmbedder("http://127.0.0.1:9", "m")) as embedder, pytest.raises(EmbedderError):
        embedder.embed(["a"])
