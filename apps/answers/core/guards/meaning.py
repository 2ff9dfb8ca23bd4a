"""Guards on what turns a sentence around: negation, opposite words, negative prefixes."""

from __future__ import annotations

import re
from functools import lru_cache

from apps.answers.core.guards.reading import read, stem

NEGATION = re.compile(r"\b(?:not|no|never|without|none|neither|nor|nothing|nobody|nowhere|unable|except|excluding)\b")
# Polite or idiomatic: they negate the speaker's knowledge or stand for a plain yes-or-no question.
IDIOMS = re.compile(
    r"\b(?:do|does|did) not (?:know|understand|see|remember|get)\b|\bnot (?:sure|certain|clear|only)\b|\bwhy not\b"
    r"|\b(?:or|if) not\b|\bno (?:longer|problem|matter|idea|one)\b"
    r"|^(?:is|are|do|does|did|can|could|should|would) not (?:you|i|we|it|there|that|this)\b"
)
OPPOSITES = """
    enable/disable activate/deactivate open/close start/stop begin/end add/remove add/delete create/delete
    increase/decrease raise/lower raise/reduce buy/sell before/after with/without allow/block allow/deny permit/forbid
    lock/unlock send/receive deposit/withdraw credit/debit minimum/maximum min/max first/last in/out on/off up/down
    login/logout install/uninstall subscribe/unsubscribe freeze/unfreeze hide/show upload/download import/export
    upgrade/downgrade more/less more/fewer accept/reject accept/decline approve/reject approve/decline join/leave
    include/exclude internal/external domestic/international incoming/outgoing arrive/depart arrival/departure
    push/pull lend/borrow early/late high/low highest/lowest cheap/expensive fast/slow faster/slower hot/cold old/new
    public/private personal/business manual/automatic manually/automatically optional/mandatory optional/required
    temporary/permanent temporarily/permanently success/failure succeed/fail pass/fail win/lose gain/lose save/delete
    connect/disconnect mute/unmute link/unlink pause/resume attach/detach expand/collapse inside/outside above/below
    over/under earlier/later older/newer larger/smaller bigger/smaller best/worst better/worse strong/weak full/empty
    left/right north/south east/west morning/evening day/night sunrise/sunset single/joint single/multiple
    sender/recipient employer/employee buyer/seller landlord/tenant lender/borrower male/female physical/virtual
    refund/charge earn/spend borrow/repay rise/fall grow/shrink same/different legal/illegal safe/dangerous true/false
    always/never everybody/nobody everything/nothing online/offline primary/secondary gross/net
"""
PREFIXES = ("un", "in", "im", "ir", "il", "dis", "non", "non-", "de", "mis", "anti", "anti-")


def _table() -> dict[str, frozenset[str]]:
    table: dict[str, set[str]] = {}
    for one, other in (pair.split("/") for pair in OPPOSITES.split()):
        for mine, theirs in ((one, other), (other, one)):
            table.setdefault(mine, set()).add(theirs)
            table.setdefault(stem(mine), set()).update({theirs, stem(theirs)})
    return {word: frozenset(opposites) for word, opposites in table.items()}


OPPOSITE = _table()


def negation(question: str, other: str) -> bool:
    """Say whether one is negated and the other is not."""
    return _negated(question) != _negated(other)


def antonym(question: str, other: str) -> bool:
    """Say whether one holds a word whose opposite stands in its place in the other."""
    mine, theirs = _forms(question), _forms(other)
    alone = theirs - mine
    return any(OPPOSITE.get(word, frozenset()) & alone for word in mine - theirs)


def prefix(question: str, other: str) -> bool:
    """Say whether one holds a word of the other with a negative prefix: eligible, ineligible."""
    mine, theirs = set(read(question).words), set(read(other).words)
    return _prefixed(mine - theirs, theirs) or _prefixed(theirs - mine, mine)


def _prefixed(words: set[str], others: set[str]) -> bool:
    return any(
        word.startswith(start) and len(word) - len(start) >= 4 and word[len(start) :] in others
        for word in words
        for start in PREFIXES
    )


@lru_cache(maxsize=8192)
def _negated(question: str) -> bool:
    return NEGATION.search(IDIOMS.sub(" ", read(question).text)) is not None


@lru_cache(maxsize=8192)
def _forms(question: str) -> frozenset[str]:
    reading = read(question)
    return frozenset(reading.words) | frozenset(reading.stems)
