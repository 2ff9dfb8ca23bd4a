"""Show what differs between two texts, word by word, safely as HTML."""

from __future__ import annotations

import re
from collections.abc import Iterator
from difflib import SequenceMatcher

from django.utils.html import escape
from django.utils.safestring import SafeString, mark_safe

WORDS = re.compile(r"\w+|\s+|[^\w\s]")
LINES = re.compile(r".*\n|.+\Z")
MOST_WORDS = 4_000
Step = tuple[str, str, str]


def merged(before: str, after: str) -> SafeString:
    """Write one text in which what went is struck out and what came is marked."""
    parts = []
    for kind, old, new in _steps(before, after):
        if kind == "equal":
            parts.append(str(escape(old)))
            continue
        parts.append(f"<del>{escape(old)}</del>" if old else "")
        parts.append(f"<ins>{escape(new)}</ins>" if new else "")
    return mark_safe("".join(parts))  # noqa: S308 - every part is escaped above


def marked(one: str, other: str) -> tuple[SafeString, SafeString]:
    """Write both texts with the words marked that the other does not have, case aside."""
    left, right = [], []
    for kind, old, new in _steps(one, other, fold=True):
        same = kind == "equal"
        left.append(_mark(old, same))
        right.append(_mark(new, same))
    return mark_safe("".join(left)), mark_safe("".join(right))  # noqa: S308 - every part is escaped below


def _mark(text: str, same: bool) -> str:
    words = text.strip()
    if same or not words:
        return str(escape(text))
    before, _, after = text.partition(words)
    return f"{escape(before)}<mark>{escape(words)}</mark>{escape(after)}"


def _steps(before: str, after: str, *, fold: bool = False) -> Iterator[Step]:
    """Give (kind, old, new) in order; long texts are compared by lines, for words would take too long."""
    old, new = WORDS.findall(before), WORDS.findall(after)
    if len(old) + len(new) > MOST_WORDS:
        old, new = LINES.findall(before), LINES.findall(after)
    one, other = ([word.casefold() for word in words] if fold else words for words in (old, new))
    for kind, a, b, c, d in SequenceMatcher(None, one, other, autojunk=False).get_opcodes():
        yield kind, "".join(old[a:b]), "".join(new[c:d])
