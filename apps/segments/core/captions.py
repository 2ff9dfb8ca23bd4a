"""Captions: WebVTT and SubRip read into cues, with an error that names the line when a file is broken."""

from __future__ import annotations

import html
import re
from collections.abc import Sequence
from dataclasses import dataclass

MAX_CHARACTERS = 5_000_000
CLOCK = r"(?:(\d{1,3}):)?([0-5]?\d):([0-5]\d)[.,](\d{3})"
TIMING = re.compile(rf"^\s*{CLOCK}\s+-->\s+{CLOCK}(?:\s.*)?$")
TAGS = re.compile(r"<[^<>]*>|\{\\[^{}]*\}")
NO_CUE = ("NOTE", "STYLE", "REGION")


class BrokenCaptions(ValueError):
    """A caption file that cannot be read; the message says where and why."""


@dataclass(frozen=True)
class Cue:
    """What is said from `start` to `end`, in seconds."""

    start: float
    end: float
    text: str


def parse(data: str | bytes) -> list[Cue]:
    """Read WebVTT or SubRip, whichever it is, into cues ordered by start.

    Raises BrokenCaptions for anything else: not UTF-8, too long, a cue without a timing, or one that ends before it
    starts.
    """
    lines = _lines(data)
    start = 1 if lines and re.match(r"^WEBVTT(?:[ \t].*)?$", lines[0]) else 0
    cues: list[Cue] = []
    for first, block in _blocks(lines, start):
        if start and (block[0].split(" ")[0].strip() in NO_CUE or first == 1):
            continue
        cues.append(_cue(first, block))
    if not cues and not start:
        raise BrokenCaptions("The file holds no captions: no WEBVTT header and no timing line.")
    return sorted(cues, key=lambda cue: (cue.start, cue.end))


def text_between(cues: Sequence[Cue], start: float, end: float) -> str:
    """Join what is said between two times, in seconds; a cue counts where it overlaps."""
    return " ".join(cue.text for cue in cues if cue.start < end and cue.end > start and cue.text)


def _lines(data: str | bytes) -> list[str]:
    if isinstance(data, bytes):
        try:
            data = data.decode("utf-8-sig")
        except UnicodeDecodeError as problem:
            raise BrokenCaptions(f"Captions must be UTF-8: byte {problem.start} is not.") from problem
    if len(data) > MAX_CHARACTERS:
        raise BrokenCaptions(f"Captions may have {MAX_CHARACTERS:,} characters at most.")
    if "\0" in data:
        raise BrokenCaptions("Captions are text: there is a NUL character.")
    return data.removeprefix("\ufeff").replace("\r\n", "\n").replace("\r", "\n").split("\n")


def _blocks(lines: list[str], start: int) -> list[tuple[int, list[str]]]:
    blocks: list[tuple[int, list[str]]] = []
    block: list[str] = []
    for number, line in enumerate([*lines[start:], ""], start=start):
        if line.strip():
            block.append(line)
        elif block:
            blocks.append((number - len(block), block))
            block = []
    return blocks


def _cue(first: int, block: list[str]) -> Cue:
    place = 0 if "-->" in block[0] else 1
    if len(block) <= place or "-->" not in block[place]:
        raise BrokenCaptions(f"Line {first + 1}: expected a timing such as 00:01.000 --> 00:04.000.")
    found = TIMING.match(block[place])
    if not found:
        raise BrokenCaptions(f"Line {first + place + 1}: cannot read the timing {block[place].strip()[:60]!r}.")
    start, end = _seconds(found.groups()[:4]), _seconds(found.groups()[4:])
    if end < start:
        raise BrokenCaptions(f"Line {first + place + 1}: the cue ends before it starts.")
    text = html.unescape(TAGS.sub("", " ".join(block[place + 1 :])))
    return Cue(start, end, " ".join(text.split()))


def _seconds(parts: Sequence[str | None]) -> float:
    hours, minutes, seconds, thousandths = (int(part or 0) for part in parts)
    return 3600 * hours + 60 * minutes + seconds + thousandths / 1000
