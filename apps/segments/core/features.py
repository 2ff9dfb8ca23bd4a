"""What is known of each segment: how it looks, what is said, where shots or slides change (WorldCache's features)."""

from __future__ import annotations

import hashlib
import re
from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from apps.segments.core.captions import Cue, text_between

DIMENSIONS = 256
HALF = DIMENSIONS // 2
SIDE = 16
WORD = re.compile(r"[^\W\d_]{3,}")
# Words that carry no knowledge in a lecture.
PLAIN_WORDS = """
    the and for that this with you are was have not but what can all will just from they there here
    then than now one out get got like know see going okay yeah right well about some into your our
    their which would could when how also very really because these those over more most much many such
    only first next let make take
"""
PLAIN = frozenset(WORD.findall(PLAIN_WORDS))
# Mean change of brightness (0 to 1) between two moments that counts as a cut; slides change little but at once.
CUTS = {"film": 0.12, "slides": 0.02}
# How much pictures count in the vector; the rest is text. Education leans on what is said.
PICTURES = {"education": 0.35, "film": 0.7, "sport": 0.9, "short": 0.6, "live": 0.9}
Array = npt.NDArray[np.float32]


@dataclass(frozen=True, slots=True)
class Described:
    """One segment: vector of length 1 (256 numbers; None when nothing is known), density and continuity 0 to 1."""

    text: str
    vector: Array | None
    density: float
    continuity: float
    cuts: int


def describe(
    pictures: npt.NDArray[np.uint8],
    cut: npt.NDArray[np.bool_],
    cues: Sequence[Cue],
    starts: Sequence[float],
    ends: Sequence[float],
    kind: str,
) -> list[Described]:
    """Describe every segment of a video.

    Args:
        pictures: one a second, (n, 16, 16, 3); empty when the video cannot be seen.
        cut: for each second whether a shot or slide begins (see `cuts` and the scene model).
        cues: captions, may be none.
        starts: where segments start, in seconds.
        ends: where they end.
        kind: chooses how much pictures count.
    """
    grey = brightness(pictures)
    texts = [text_between(cues, start, end) for start, end in zip(starts, ends, strict=True)]
    rare = _rarity(texts)
    found = []
    for start, end, text in zip(starts, ends, texts, strict=True):
        here = slice(int(start), max(int(start) + 1, int(np.ceil(end))))
        count = int(cut[here].sum())
        continuity = 1.0 / (1.0 + count)
        vector = _joined(look(grey[here]), said(text, rare), PICTURES.get(kind, 0.5))
        found.append(Described(text, vector, density(text), continuity, count))
    return found


def brightness(pictures: npt.NDArray[np.uint8]) -> Array:
    """Give how bright pictures (n, 16, 16, 3) are: (n, 16, 16), 0 to 1."""
    return np.asarray(pictures.astype(np.float32).mean(-1) / 255, np.float32)


def cuts(grey: Array, profile: str) -> npt.NDArray[np.bool_]:
    """Say for each picture (n, 16, 16; 0 to 1) whether it starts a new shot or slide."""
    found = np.zeros(len(grey), np.bool_)
    if len(grey) > 1:
        found[1:] = np.abs(np.diff(grey, axis=0)).mean((1, 2)) > CUTS[profile]
    return found


def look(grey: Array) -> Array:
    """Give how a segment looks: 64 brightnesses and 64 edges of its mean picture, of length 1; zeros for darkness."""
    if not len(grey):
        return np.zeros(HALF, np.float32)
    mean = grey.mean(0)
    small = mean.reshape(8, 2, 8, 2).mean((1, 3))
    edges = np.abs(np.gradient(small)[0]) + np.abs(np.gradient(small)[1])
    return _unit(np.concatenate([(small - small.mean()).ravel(), 2 * edges.ravel()]).astype(np.float32))


def said(text: str, rare: Counter[str]) -> Array:
    """Give what is said as hashed words, weighted by how rare they are in the video, of length 1; zeros for silence."""
    vector = np.zeros(HALF, np.float32)
    for word, times in Counter(_words(text)).items():
        place = int.from_bytes(hashlib.blake2b(word.encode(), digest_size=4).digest(), "big")
        vector[place % HALF] += (1 if place & 0x80000000 else -1) * np.sqrt(times) / np.sqrt(1.0 + rare[word])
    return _unit(vector)


def density(text: str) -> float:
    """Give the share of different telling words among all words, 0 to 1: the knowledge density of the text."""
    words = WORD.findall(text.lower())
    return len({word for word in words if word not in PLAIN}) / len(words) if words else 0.0


def _words(text: str) -> list[str]:
    return [word for word in WORD.findall(text.lower()) if word not in PLAIN]


def _rarity(texts: Sequence[str]) -> Counter[str]:
    """Count in how many segments each word is said."""
    return Counter(word for text in texts for word in set(_words(text)))


def _joined(pictures: Array, text: Array, share: float) -> Array | None:
    joined = np.concatenate([pictures * np.sqrt(share), text * np.sqrt(1 - share)]).astype(np.float32)
    return _unit(joined) if joined.any() else None


def _unit(vector: Array) -> Array:
    length = float(np.linalg.norm(vector))
    return (vector / length).astype(np.float32) if length else vector
