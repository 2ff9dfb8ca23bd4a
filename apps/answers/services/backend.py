"""The backend behind the cache: any OpenAI-compatible chat endpoint; off until one is configured."""

from __future__ import annotations

import logging
from collections.abc import Mapping, Sequence
from functools import lru_cache
from typing import Any

import httpx
from django.conf import settings

from apps.answers.core.chat import answer_of
from apps.answers.core.text import Turn

log = logging.getLogger(__name__)


def configured() -> bool:
    """Say whether an upstream is set."""
    return bool(settings.ANSWERS["UPSTREAM_URL"])


def url(path: str) -> str:
    """Give the upstream's address of an OpenAI path such as `chat/completions`."""
    return str(settings.ANSWERS["UPSTREAM_URL"]).rstrip("/") + "/" + path


def headers() -> dict[str, str]:
    """Give the headers of an upstream request; the client's key is never forwarded."""
    key = settings.ANSWERS["UPSTREAM_KEY"]
    return {"Content-Type": "application/json", **({"Authorization": f"Bearer {key}"} if key else {})}


def timeout() -> httpx.Timeout:
    """Give the upstream's deadline: quick to connect, patient to answer."""
    return httpx.Timeout(float(settings.ANSWERS["UPSTREAM_TIMEOUT_S"]), connect=5.0)


@lru_cache(maxsize=1)
def _client() -> httpx.Client:
    return httpx.Client(timeout=timeout(), trust_env=False)


def generate(question: str, context: Sequence[Turn]) -> str | None:
    """Ask the upstream one question; None when it fails or does not finish its answer."""
    messages = [{"role": turn.role, "content": turn.content} for turn in context]
    body: Mapping[str, Any] = {
        "model": settings.ANSWERS["UPSTREAM_MODEL"],
        "messages": [*messages, {"role": "user", "content": question}],
    }
    try:
        reply = _client().post(url("chat/completions"), json=body, headers=headers())
        reply.raise_for_status()
        return answer_of(reply.json())
    except (httpx.HTTPError, ValueError) as problem:
        log.warning("the upstream did not answer: %s", problem)
        return None
