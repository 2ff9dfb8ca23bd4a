"""Guards on what a question is about: names, and the one thing replaced in an otherwise equal sentence."""

from __future__ import annotations

import re
from collections.abc import Sequence
from difflib import SequenceMatcher
from functools import lru_cache

from apps.answers.core.guards.reading import FRAME, Reading, read, stem

NAME = re.compile(r"\b[A-Z][\w&]*(?:[-'][A-Z]?\w+)*")
SENTENCE_START = re.compile(r"(?:^|[.!?:]\s+|[\"'(])\s*([A-Z][\w']*)")
ENOUGH_FRAME = 0.6
LONGEST_SLOT = 4


def entity(question: str, other: str) -> bool:
    """Say whether each names something by a capital letter that the other does not mention at all."""
    mine, theirs = _names(question), _names(other)
    if not mine and not theirs:
        return False
    return bool(mine - _parts(read(other))) and bool(theirs - _parts(read(question)))


def slot(question: str, other: str) -> bool:
    """Say whether the two are one sentence in which one short span of content was replaced by another.

    Words are aligned by their stems; most of the shorter sentence must be common, and what differs must carry
    meaning on both sides.
    """
    one, two = read(question), read(other)
    shorter = min(len(one.words), len(two.words))
    if shorter < 3 or not one.content & two.content:
        return False
    fewest = min(len(set(one.stems)), len(set(two.stems)))
    if len(set(one.stems) & set(two.stems)) < ENOUGH_FRAME * fewest - 1:
        return False  # too little in common for any alignment
    blocks = SequenceMatcher(None, one.stems, two.stems, autojunk=False).get_opcodes()
    common = sum(end - start for kind, start, end, _, _ in blocks if kind == "equal")
    replaced = [block for block in blocks if block[0] == "replace" and _carries(one, two, block)]
    return len(replaced) == 1 and common >= ENOUGH_FRAME * shorter and _short(replaced[0])


def _parts(reading: Reading) -> frozenset[str]:
    """Give all stems, those of the parts of joined words too."""
    joined = (part for word in reading.words if "-" in word or "/" in word for part in re.split("[-/]", word))
    return frozenset(reading.stems) | frozenset(stem(part) for part in joined)


def _carries(one: Reading, two: Reading, block: tuple[str, int, int, int, int]) -> bool:
    _, start, end, other_start, other_end = block
    mine = _content(one.words[start:end]) - frozenset(two.stems)
    theirs = _content(two.words[other_start:other_end]) - frozenset(one.stems)
    return bool(mine) and bool(theirs)


def _content(words: Sequence[str]) -> set[str]:
    """Give the stems of words that carry meaning; what is counted is another guard's business."""
    return {stem(word) for word in words if word not in FRAME and not any(letter.isdigit() for letter in word)}


def _short(block: tuple[str, int, int, int, int]) -> bool:
    _, start, end, other_start, other_end = block
    return max(end - start, other_end - other_start) <= LONGEST_SLOT


@lru_cache(maxsize=8192)
def _names(question: str) -> frozenset[str]:
    """Find capitalised words inside a sentence, acronyms at its start too; a text all in capitals names nothing."""
    if question.upper() == question:
        return frozenset()
    starts = {match.start(1) for match in SENTENCE_START.finditer(question)}
    found = (
        match.group()
        for match in NAME.finditer(question)
        if match.start() not in starts or (len(match.group()) > 1 and match.group().isupper())
    )
    return frozenset(stem(word.lower()) for name in found for word in re.split(r"[-'&]", name) if _means(word))


def _means(word: str) -> bool:
    return len(word) > 1 and not word.isdigit() and word.lower() not in FRAME and word != "NOT"
