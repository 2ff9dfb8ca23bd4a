"""Guards: cheap, pure checks that two near questions do not ask the same after all.

They demote a hit to the grey zone, where the judge decides; they never refuse for ever.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping
from functools import lru_cache

from apps.answers.core.text import normalise

NUMBER = re.compile(r"\d+(?:[.,:/-]\d+)*")
NEGATION = re.compile(r"\b(?:not|no|never|without|none|neither|nor|cannot|\w+n't|isnt|dont|doesnt|cant|wont)\b")
WORD = re.compile(r"[^\W_]+(?:'[^\W_]+)?")
OPPOSITES = (
    ("enable", "disable"), ("activate", "deactivate"), ("open", "close"), ("start", "stop"), ("add", "remove"),
    ("increase", "decrease"), ("raise", "lower"), ("buy", "sell"), ("before", "after"), ("with", "without"),
    ("allow", "block"), ("lock", "unlock"), ("send", "receive"), ("deposit", "withdraw"), ("credit", "debit"),
    ("minimum", "maximum"), ("min", "max"), ("first", "last"), ("in", "out"), ("on", "off"), ("up", "down"),
    ("login", "logout"), ("install", "uninstall"), ("subscribe", "unsubscribe"), ("freeze", "unfreeze"),
    ("hide", "show"), ("upload", "download"), ("import", "export"), ("upgrade", "downgrade"), ("more", "less"),
)  # fmt: skip
NOW = re.compile(
    r"\b(?:right now|today|tonight|currently|at the moment|this (?:morning|week)|latest|what time is it)\b"
)


def number(question: str, other: str) -> bool:
    """Say whether the two name different numbers, dates, versions or identifiers."""
    return sorted(NUMBER.findall(question)) != sorted(NUMBER.findall(other))


def negation(question: str, other: str) -> bool:
    """Say whether one is negated and the other is not."""
    return bool(NEGATION.search(question)) != bool(NEGATION.search(other))


def antonym(question: str, other: str) -> bool:
    """Say whether one holds a word whose opposite stands in the other."""
    mine, theirs = set(WORD.findall(question)), set(WORD.findall(other))
    only_mine, only_theirs = mine - theirs, theirs - mine
    return any((a in only_mine and b in only_theirs) or (b in only_mine and a in only_theirs) for a, b in OPPOSITES)


def script(question: str, other: str) -> bool:
    """Say whether the two are written in different scripts."""
    return _latin(question) != _latin(other)


def _latin(text: str) -> bool:
    letters = [letter for letter in text if letter.isalpha()]
    return sum(letter < "\u0250" for letter in letters) * 2 >= len(letters)


GUARDS: dict[str, Callable[[str, str], bool]] = {
    "number": number,
    "negation": negation,
    "antonym": antonym,
    "script": script,
}
NAMES = (*GUARDS, "margin", "agreement", "never_cache")


def fired(question: str, other: str, enabled: Mapping[str, bool]) -> tuple[str, ...]:
    """Name the enabled guards that see a difference between a question and a cached one."""
    mine, theirs = _normal(question), _normal(other)
    if mine == theirs:
        return ()
    return tuple(name for name, differs in GUARDS.items() if enabled.get(name, True) and differs(mine, theirs))


def never_cache(question: str, enabled: Mapping[str, bool] | None = None) -> str:
    """Say why a question may not be cached at all (it asks about now); empty when it may."""
    if enabled is not None and not enabled.get("never_cache", True):
        return ""
    return "about_now" if NOW.search(_normal(question)) else ""


@lru_cache(maxsize=4096)
def _normal(text: str) -> str:
    return normalise(text)
