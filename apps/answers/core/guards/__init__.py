"""Guards: cheap, pure checks that two near questions do not ask the same after all.

They demote a hit to the grey zone, where the judge decides; they never refuse for ever: on honest duplicates they fire
too (docs and benchmark say how often). Each is written from one way in which language turns a sentence around while
leaving most of its words, and hence its vector, in place.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping

from apps.answers.core.guards.admission import why_never
from apps.answers.core.guards.meaning import antonym, negation, prefix
from apps.answers.core.guards.names import entity, slot
from apps.answers.core.guards.quantities import date, identifier, number, unit
from apps.answers.core.guards.reading import read
from apps.answers.core.guards.tongues import language, script

GUARDS: dict[str, Callable[[str, str], bool]] = {
    "number": number,
    "date": date,
    "unit": unit,
    "identifier": identifier,
    "negation": negation,
    "antonym": antonym,
    "prefix": prefix,
    "entity": entity,
    "slot": slot,
    "script": script,
    "language": language,
}
NAMES = (*GUARDS, "margin", "agreement", "never_cache")

__all__ = ["GUARDS", "NAMES", "fired", "never_cache"]


def fired(question: str, other: str, enabled: Mapping[str, bool]) -> tuple[str, ...]:
    """Name the enabled guards that see a difference between a question and a cached one."""
    if read(question).text == read(other).text:
        return ()
    return tuple(name for name, differs in GUARDS.items() if enabled.get(name, True) and differs(question, other))


def never_cache(question: str, enabled: Mapping[str, bool] | None = None) -> str:
    """Say why a question may not be cached: `about_now`, `about_me` or `action`; empty when it may."""
    if enabled is not None and not enabled.get("never_cache", True):
        return ""
    return why_never(read(question).text)
