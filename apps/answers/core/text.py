"""Questions as keys: checked, normalised, digested; and the fingerprint of what was said before."""

from __future__ import annotations

import hashlib
import re
import unicodedata
from collections.abc import Sequence
from dataclasses import dataclass

LONGEST_QUESTION = 16 * 1024
SURROGATE = re.compile("[\ud800-\udfff]")
INVISIBLE = re.compile(r"[\u0000-\u0008\u000e-\u001f\u007f\u00ad\u200b-\u200f\u202a-\u202e\u2060-\u2064\ufeff]")


@dataclass(frozen=True, slots=True)
class Turn:
    """One earlier turn of a conversation."""

    role: str
    content: str


def check_question(question: str) -> str:
    """Return the question as it is when it is text that can be kept and searched.

    Raises:
        ValueError: it is empty, longer than 16,384 characters, or holds NUL or lone surrogates.
    """
    if len(question) > LONGEST_QUESTION:
        raise ValueError(f"A question has at most {LONGEST_QUESTION} characters.")
    if "\0" in question:
        raise ValueError("The question holds a NUL character.")
    if SURROGATE.search(question):
        raise ValueError("The question holds half of a surrogate pair, which is not text.")
    if not normalise(question):
        raise ValueError("The question is empty.")
    return question


def normalise(question: str) -> str:
    """Bring spellings of the same question together: NFKC, invisible characters, white space, case."""
    text = INVISIBLE.sub("", unicodedata.normalize("NFKC", question)).casefold()
    return " ".join(unicodedata.normalize("NFKC", text).split())


def digest(question: str) -> bytes:
    """Give the exact key of a question: 32 bytes over its normal form."""
    return hashlib.sha256(normalise(question).encode("utf-8", "surrogatepass")).digest()


def fingerprint(context: Sequence[Turn], mode: str, turns: int = 0) -> bytes:
    """Give the fingerprint of what was said before: 32 bytes, or none when nothing counts.

    Args:
        context: the earlier turns, oldest first, system prompt included.
        mode: `ignore`, `exact` (all turns) or `last_turns` (the last `turns` of them; system prompts always count).
        turns: how many turns count under `last_turns`.
    """
    if mode == "ignore" or not context:
        return b""
    counted = list(context)
    if mode == "last_turns":
        spoken = [turn for turn in context if turn.role not in {"system", "developer"}]
        standing = [turn for turn in context if turn.role in {"system", "developer"}]
        counted = standing + (spoken[-turns:] if turns else [])
    if not counted:
        return b""
    state = hashlib.sha256()
    for turn in counted:
        for part in (turn.role, normalise(turn.content)):
            data = part.encode("utf-8", "surrogatepass")
            state.update(len(data).to_bytes(8, "big") + data)
    return state.digest()
