"""What a golden answer says, as plain values, and what makes such values valid."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from datetime import datetime
from typing import Any
from urllib.parse import urlsplit

from apps.answers.core import text as texts
from apps.answers.models.golden import GoldenText
from apps.answers.services.filling import MAX_ANSWER

WORDING = ("question", "answer", "aliases", "valid_from", "valid_until")
TEXT = (*WORDING, "tags", "attachments")
MOST_ALIASES = 200
MOST_TAGS = 50
LONGEST_TAG = 60
LONGEST_LINK = 200
Problems = list[tuple[str, str]]


def of(row: GoldenText) -> dict[str, Any]:
    """Give what a golden answer, or one of its versions, says."""
    return {name: getattr(row, name) for name in TEXT}


def problems(values: Mapping[str, Any]) -> Problems:
    """List what is wrong with a whole text as (field, message); empty when it may be kept."""
    found = [("question", message) for message in _wrong_question(values["question"])]
    found += [("answer", message) for message in _wrong_answer(values["answer"])]
    found += [("aliases", message) for alias in values["aliases"] for message in _wrong_question(alias)]
    found += [("tags", message) for tag in values["tags"] for message in _wrong_tag(tag)]
    found += [("attachments", message) for link in values["attachments"] for message in _wrong_link(link)]
    found += list(_wrong_numbers(values))
    found += [("valid_until", message) for message in _wrong_window(values["valid_from"], values["valid_until"])]
    return found


def _wrong_question(question: str) -> Iterator[str]:
    try:
        texts.check_question(question)
    except ValueError as problem:
        yield str(problem)


def _wrong_answer(answer: str) -> Iterator[str]:
    if not answer.strip():
        yield "The answer is empty."
    if len(answer) > MAX_ANSWER:
        yield f"An answer has at most {MAX_ANSWER} characters."
    if not _is_text(answer):
        yield "The answer holds characters that are not text."


def _wrong_tag(tag: str) -> Iterator[str]:
    if not tag.strip() or len(tag) > LONGEST_TAG or not _is_text(tag):
        yield f"A tag has 1 to {LONGEST_TAG} characters of text."


def _wrong_link(link: str) -> Iterator[str]:
    try:
        parts = urlsplit(link)
        good = parts.scheme in {"http", "https"} and bool(parts.hostname)
    except ValueError:
        good = False
    if not good or len(link) > LONGEST_LINK or not _is_text(link) or any(letter.isspace() for letter in link):
        yield f"An attachment is a link with http or https and at most {LONGEST_LINK} characters."


def _wrong_numbers(values: Mapping[str, Any]) -> Iterator[tuple[str, str]]:
    for name, most in (("aliases", MOST_ALIASES), ("tags", MOST_TAGS), ("attachments", MOST_TAGS)):
        if len(values[name]) > most:
            yield name, f"There may be at most {most} of them."


def _wrong_window(valid_from: datetime | None, valid_until: datetime | None) -> Iterator[str]:
    if valid_from and valid_until and valid_from >= valid_until:
        yield "valid_until must be later than valid_from."


def _is_text(value: str) -> bool:
    return "\0" not in value and not texts.SURROGATE.search(value)
