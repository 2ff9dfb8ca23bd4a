"""Run the parts of the benchmark that were asked for."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from pathlib import Path
from typing import Any

from apps.answers.bench import guarding, path, policies, recall

PARTS = ("policy", "pairs", "recall", "path")
INSIDE = ("recall", "path")  # these need a database of their own, filled and thrown away
Row = dict[str, Any]
Say = Callable[[str], None]


def run(
    data: Path, parts: Sequence[str], *, quick: bool, say: Say, url: str = "", cache: Path | None = None
) -> Iterator[Row]:
    """Yield the rows of each part.

    Args:
        data: a folder that holds `questions/`.
        parts: some of PARTS.
        quick: fewer seeds, entries and repetitions.
        say: told what is being done.
        url: the running site, for the path over HTTP.
        cache: a folder for vectors that need not be computed twice.
    """
    questions = data / "questions" if (data / "questions").is_dir() else data
    if "policy" in parts:
        yield from policies.rows(questions, quick=quick, say=say, cache=cache)
    if "pairs" in parts:
        yield from guarding.rows(questions, say=say)
    if "recall" in parts:
        yield from recall.rows(quick=quick, say=say)
    if "path" in parts:
        yield from path.rows(questions, quick=quick, say=say, url=url, cache=cache)
