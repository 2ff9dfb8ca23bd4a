"""The outside powers of this process: one embedder, one backend, and the judge of each namespace."""

import logging
from collections.abc import Sequence
from functools import lru_cache
from threading import Lock

import numpy as np
from django.conf import settings
from numpy.typing import NDArray

from apps.access import services as access
from apps.answers.core.embedding import Embedder, MiniLM, OpenAIEmbedder, RememberingEmbedder
from apps.answers.core.judge import ChatJudge, HumanJudge, Judge, OfflineJudge
from apps.answers.models import Namespace

log = logging.getLogger(__name__)
REMEMBERED_VECTORS = 20_000
Vectors = NDArray[np.float32]

_loading = Lock()


def embedder() -> Embedder:
    """Give the configured embedder, loaded once per process."""
    with _loading:
        return _load()


@lru_cache(maxsize=1)
def _load() -> Embedder:
    options = settings.ANSWERS
    if options["EMBEDDER"] == "openai":
        remote = OpenAIEmbedder(options["EMBEDDER_URL"], options["EMBEDDER_MODEL"], options["EMBEDDER_KEY"])
        return RememberingEmbedder(remote, REMEMBERED_VECTORS)
    return RememberingEmbedder(MiniLM(), REMEMBERED_VECTORS)


def vectors_of(questions: Sequence[str]) -> Vectors:
    """Embed questions off the request path; returns (n, dimension) float32.

    Raises:
        Unavailable: the embedder fails.
    """
    try:
        return embedder().embed(list(questions))
    except Exception as problem:  # a remote embedder may fail in any way
        raise access.Unavailable("The embedder does not answer; try again.", retry_after_s=5) from problem


def warm_up() -> None:
    """Load the embedder before the first question needs it; when that fails, serving falls open and says so."""
    try:
        embedder().embed(["Is everything ready?"])
    except Exception:
        log.exception("the embedder could not be loaded")


def judge_of(namespace: Namespace) -> Judge:
    """Build the judge a namespace has chosen; a chat judge without an endpoint leaves everything to people."""
    unset = namespace.judge == Namespace.Judge.CHAT and not settings.ANSWERS["JUDGE_URL"]
    if unset or namespace.judge == Namespace.Judge.HUMAN:
        return HumanJudge()
    if namespace.judge == Namespace.Judge.OFFLINE:
        return OfflineJudge.from_dict(namespace.judge_state)
    return chat_judge()


@lru_cache(maxsize=1)
def chat_judge() -> ChatJudge:
    """Give this process's chat judge; its circuit breaker remembers across questions."""
    options = settings.ANSWERS
    return ChatJudge(
        options["JUDGE_URL"], options["JUDGE_MODEL"], options["JUDGE_KEY"], timeout_s=options["JUDGE_TIMEOUT_S"]
    )
