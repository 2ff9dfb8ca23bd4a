"""The OpenAI chat wire format: what may be cached, and how a cached answer looks like a generated one."""

from __future__ import annotations

import json
import time
import uuid
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Any

from apps.answers.core.text import Turn

CHUNK = 48  # characters of a cached answer in one event, about what a model sends
HIGHEST_TEMPERATURE = 1.0
RANGES = {"temperature": (0, 2), "top_p": (0, 1), "n": (1, 128)}
ONE_ANSWER_ONLY = (
    "tools",
    "functions",
    "tool_choice",
    "function_call",
    "logprobs",
    "audio",
    "modalities",
    "prediction",
)


class ChatError(ValueError):
    """The request is not a chat completion request; the message says where it is wrong."""

    def __init__(self, message: str, param: str) -> None:
        super().__init__(message)
        self.param = param


@dataclass(frozen=True, slots=True)
class ChatRequest:
    """One chat completion request as the cache sees it; `bypass` says why it may not be cached, if so."""

    model: str
    question: str
    context: tuple[Turn, ...]
    stream: bool
    include_usage: bool
    bypass: str


def parse(body: Any) -> ChatRequest:
    """Read a request body.

    Raises:
        ChatError: it is not an object with a model and messages.
    """
    if not isinstance(body, Mapping):
        raise ChatError("The body must be a JSON object.", "")
    model, messages = body.get("model"), body.get("messages")
    if not isinstance(model, str) or not model:
        raise ChatError("model must be a non-empty string.", "model")
    if not isinstance(messages, list) or not messages or not all(isinstance(m, Mapping) for m in messages):
        raise ChatError("messages must be a non-empty array of objects.", "messages")
    stream, options = body.get("stream", False), body.get("stream_options") or {}
    if not isinstance(stream, bool | None) or not isinstance(options, Mapping):
        raise ChatError("stream must be true or false.", "stream")
    for name, (low, high) in RANGES.items():
        value = body.get(name)
        number = isinstance(value, int | float) and not isinstance(value, bool)
        if value is not None and not (number and low <= value <= high):
            raise ChatError(f"{name} must be a number from {low} to {high}.", name)
    turns, plain = _turns(messages)
    why = "" if plain else "not_text"
    if not why and turns[-1].role != "user":
        why = "last_turn_not_user"
    why = why or _uncacheable(body)
    return ChatRequest(model, turns[-1].content, turns[:-1], bool(stream), bool(options.get("include_usage")), why)


def _turns(messages: list[Any]) -> tuple[tuple[Turn, ...], bool]:
    """Read the turns, and say whether all of them are plain text."""
    turns, plain = [], True
    for message in messages:
        role, content = message.get("role"), message.get("content")
        if not isinstance(role, str):
            raise ChatError("Every message needs a role.", "messages")
        text = _text(content)
        plain = plain and text is not None and not message.get("tool_calls") and role not in {"tool", "function"}
        turns.append(Turn(role, text or ""))
    return tuple(turns), plain


def _text(content: Any) -> str | None:
    if isinstance(content, str):
        return content
    if isinstance(content, list) and all(isinstance(part, Mapping) and part.get("type") == "text" for part in content):
        return "\n".join(str(part.get("text", "")) for part in content)
    return None


def _uncacheable(body: Mapping[str, Any]) -> str:
    """Say why one cached answer would not do for this request; empty when it would."""
    for name in ONE_ANSWER_ONLY:
        if body.get(name):
            return name
    if body.get("n") not in (None, 1):
        return "n"
    temperature = body.get("temperature")
    if isinstance(temperature, int | float) and temperature > HIGHEST_TEMPERATURE:
        return "temperature"
    shape = body.get("response_format")
    if isinstance(shape, Mapping) and shape.get("type", "text") != "text":
        return "response_format"
    return ""


def completion(model: str, answer: str) -> dict[str, Any]:
    """Write a cached answer as a chat completion; no tokens were spent."""
    return {
        "id": f"chatcmpl-{uuid.uuid4().hex}",
        "object": "chat.completion",
        "created": int(time.time()),
        "model": model,
        "choices": [
            {
                "index": 0,
                "message": {"role": "assistant", "content": answer, "refusal": None},
                "logprobs": None,
                "finish_reason": "stop",
            }
        ],
        "usage": _usage(),
    }


def events(model: str, answer: str, include_usage: bool) -> Iterator[bytes]:
    """Write a cached answer as the server-sent events of a streamed completion."""
    head = {
        "id": f"chatcmpl-{uuid.uuid4().hex}",
        "object": "chat.completion.chunk",
        "created": int(time.time()),
        "model": model,
    }
    yield _event(head, {"role": "assistant", "content": ""}, None)
    for start in range(0, len(answer), CHUNK):
        yield _event(head, {"content": answer[start : start + CHUNK]}, None)
    yield _event(head, {}, "stop")
    if include_usage:
        yield _data({**head, "choices": [], "usage": _usage()})
    yield b"data: [DONE]\n\n"


def _event(head: dict[str, Any], delta: dict[str, Any], finish: str | None) -> bytes:
    return _data({**head, "choices": [{"index": 0, "delta": delta, "logprobs": None, "finish_reason": finish}]})


def _data(event: dict[str, Any]) -> bytes:
    return b"data: " + json.dumps(event, ensure_ascii=False, separators=(",", ":")).encode() + b"\n\n"


def _usage() -> dict[str, int]:
    return {"prompt_tokens": 0, "completion_tokens": 0, "total_tokens": 0}


class Transcript:
    """Collect the answer out of an upstream stream; it is complete only when the stream ended as it should."""

    def __init__(self) -> None:
        self.parts: list[str] = []
        self.finish = ""
        self.done = False
        self.spoiled = False
        self._rest = b""

    def feed(self, data: bytes) -> None:
        """Read the next bytes of the stream."""
        lines = (self._rest + data).split(b"\n")
        self._rest = lines.pop()
        for line in lines:
            self._line(line.strip())

    def _line(self, line: bytes) -> None:
        if not line.startswith(b"data:"):
            return
        payload = line[5:].strip()
        if payload == b"[DONE]":
            self.done = True
            return
        try:
            event = json.loads(payload)
            for choice in event.get("choices", ()):
                self.parts.append(choice.get("delta", {}).get("content") or "")
                self.finish = choice.get("finish_reason") or self.finish
                self.spoiled = self.spoiled or bool(choice.get("delta", {}).get("tool_calls"))
        except (ValueError, AttributeError, TypeError):
            self.spoiled = True

    def answer(self) -> str | None:
        """Give the whole answer, or None when the stream broke, was cut or held more than text."""
        text = "".join(self.parts)
        return text if self.done and self.finish == "stop" and not self.spoiled and text.strip() else None


def answer_of(completion_body: Any) -> str | None:
    """Give the text of a plain completion that ended by itself, else None."""
    try:
        choice = completion_body["choices"][0]
        text = choice["message"]["content"]
        whole = choice["finish_reason"] == "stop" and not choice["message"].get("tool_calls")
    except (KeyError, IndexError, TypeError, AttributeError):
        return None
    return text if whole and isinstance(text, str) and text.strip() else None
