"""A question read once: normal form, words, stems and what stands out. Remembered, since golden questions come back."""

from __future__ import annotations

import re
from dataclasses import dataclass
from functools import lru_cache

from apps.answers.core.text import normalise

WORD = re.compile(r"[^\W_]+(?:[-/][^\W_]+)*")
CONTRACTIONS = (
    (re.compile(r"\b(can|won|shan)'?t\b"), r"\1 not"),
    (re.compile(r"n't\b"), " not"),
    (re.compile(r"\b(do|does|did|is|are|was|were|has|have|had|could|should|would)nt\b"), r"\1 not"),
    (re.compile(r"\bcannot\b"), "can not"),
    (re.compile(r"'(?:s|m|re|ve|ll|d)\b"), " "),
)
FRAME_WORDS = """
    a about all also am an and any are as at be been being but by can could did do does doing for from get getting
    give go going got had has have having he hello help her hi his how i if in into is it its just kindly know let like
    long make many may me might much must my need needed needs of on or our please possible require required requires
    s say she should show so some such t tell than thank thanks that the their them then there these they this those to
    try trying us use using want was way we were what when where which who whom whose why will with would you your
    yours
"""
FRAME = frozenset(FRAME_WORDS.split())
ENDINGS = ("ations", "ation", "ments", "ment", "ings", "ing", "ies", "ied", "ers", "ed", "es", "er", "s", "e", "y")


@dataclass(frozen=True, slots=True)
class Reading:
    """One question: normal form (contractions spelled out), words, their stems, and the original for its capitals."""

    original: str
    text: str
    words: tuple[str, ...]
    stems: tuple[str, ...]

    @property
    def content(self) -> frozenset[str]:
        """Give the stems of the words that carry meaning."""
        return frozenset(stem for word, stem in zip(self.words, self.stems, strict=True) if word not in FRAME)


@lru_cache(maxsize=8192)
def read(question: str) -> Reading:
    """Read a question."""
    text = normalise(question).replace("’", "'")
    for pattern, plain in CONTRACTIONS:
        text = pattern.sub(plain, text)
    words = tuple(WORD.findall(text))
    return Reading(question, text, words, tuple(stem(word) for word in words))


@lru_cache(maxsize=65_536)
def stem(word: str) -> str:
    """Cut one ending off, so that "transfers" meets "transfer" and "enabled" meets "enable"."""
    for ending in ENDINGS:
        if word.endswith(ending) and len(word) - len(ending) >= 3:
            cut = word[: -len(ending)]
            return cut[:-1] if len(cut) > 3 and cut[-1] == cut[-2] else cut
    return word
