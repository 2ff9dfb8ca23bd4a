"""The never-cache rule: questions about this moment, about the asker's own records, or that ask for an action.

This is no property of a pair: whatever answer is kept would be wrong for the next asker, or in the next minute.
"""

from __future__ import annotations

import re

NOW = re.compile(
    r"\b(?:right now|as of (?:now|today)|at (?:the|this) moment|at this very (?:moment|second)|just now|so far today"
    r"|current(?:ly)? (?:balance|time|price|rate|apy|apr|status|score|weather|temperature|available|pending|value)"
    r"|current (?:\w+ ){1,2}(?:balance|price|rate|score|status|credit|transactions?|apy|apr|value)"
    r"|latest (?:news|price|score|rate|update)s?|what time is it|what(?: is)? the time"
    r"|(?:today|tonight|tomorrow)(?! (?:view|page|tab|screen|widget|button)\b)"
    r"|(?:the )?current (?:apy|apr|rate|price|exchange rate|balance|time|status|value)|live (?:score|price|rate)s?)\b"
)
PAST = re.compile(r"^(?:who|what|when|which|how (?:many|much)|is|are|was|were|did|does|has|have)\b.*\byesterday\b")
MINE = re.compile(
    r"\b(?:what|how much|show|list|check|tell me|view|see)\b.{0,40}\bmy\b.{0,30}"
    r"\b(?:balance|credit score|available credit|transactions?|transaction history|due date|spending)\b"
)
VERBS = """
    activate add apply block book buy call cancel change charge close create deactivate delete deposit
    dispute email file freeze increase decrease invest issue lock unlock make move open order pay play post raise lower
    refund remind remove renew replace report reset reverse schedule sell send set stop submit subscribe suspend switch
    terminate transfer turn unfreeze unsubscribe update upgrade waive wire withdraw
"""
ACTION = re.compile(
    r"^(?:(?:please|kindly|hi|hello|hey|ok|now)[,!]? )*(?:(?:can|could|will|would) you (?:please )?)?"
    rf"(?:{'|'.join(VERBS.split())})(?: \w+){{0,2}} (?:my|me|that|this|it|a|an|the|\$|€|£|[$€£]?\d)\b"
)
ASKS_HOW = re.compile(r"\b(?:how|what|why|when|where|which|who)\b")


def why_never(text: str) -> str:
    """Say why a question in its normal form may not be cached; empty when it may."""
    if NOW.search(text) or PAST.search(text):
        return "about_now"
    if MINE.search(text):
        return "about_me"
    match = ACTION.match(text)
    return "action" if match and not ASKS_HOW.search(text[: match.end() + 12]) else ""
