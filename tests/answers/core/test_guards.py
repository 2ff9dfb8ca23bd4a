"""Guards: what turns a question around is seen, what only rephrases it is not."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from apps.answers.core import guards

ALL: dict[str, bool] = {}


def fired(question: str, cached: str) -> tuple[str, ...]:
    return guards.fired(question, cached, ALL)


@pytest.mark.parametrize(
    ("question", "cached", "guard"),
    [
        ("Can I pay 20 euros?", "Can I pay 10 euros?", "number"),
        ("Can I keep two cards?", "Can I keep three cards?", "number"),
        ("Is the shop open on Monday?", "Is the shop open on Tuesday?", "date"),
        ("What does it cost next year?", "What does it cost this year?", "date"),
        ("Can I pay 20 dollars at once?", "Can I pay 20 euros at once?", "unit"),
        ("Will it come in 5 days?", "Will it come in 5 hours?", "unit"),
        ("Where is order AB-1234?", "Where is order AB-1243?", "identifier"),
        ("Which branch has code #0471?", "Which branch has code #0472?", "identifier"),
        ("Are fees not waived abroad?", "Are fees waived abroad?", "negation"),
        ("Why can't I log in?", "Why can I log in?", "negation"),
        ("How do I disable alerts?", "How do I enable alerts?", "antonym"),
        ("Is it faster with a card?", "Is it faster without a card?", "antonym"),
        ("Which plans are ineligible?", "Which plans are eligible?", "prefix"),
        ("Is the service unavailable abroad?", "Is the service available abroad?", "prefix"),
        ("Which phone does Anna Bell use?", "Which phone does John Carter use?", "entity"),
        ("What does the silver plan cost a month?", "What does the basic plan cost a month?", "slot"),
        ("What documents does a mortgage need here?", "What documents does a passport need here?", "slot"),
        ("Как оплатить счёт?", "How do I pay a bill?", "script"),
        ("Wie kann ich die Karte von mir sperren?", "How can I block the card that is mine?", "language"),
    ],
)
def test_a_question_turned_around_is_seen_from_both_sides(question: str, cached: str, guard: str) -> None:
    assert guard in fired(question, cached)
    assert guard in fired(cached, question)


@pytest.mark.parametrize(
    ("question", "cached"),
    [
        ("What do I need to open an account?", "What's required to open an account?"),
        ("How can I reset my password?", "How do I reset my password?"),
        ("Where is order #AB-1234?", "where is order AB-1234"),
        ("Can I keep two cards?", "Can I keep 2 cards?"),
        ("I don't know how to pay", "How do I pay?"),
        ("Does the card work with apple pay?", "Does the card work with Apple Pay?"),
        ("Transfers: how long do they take?", "How long does a transfer take?"),
        ("PLEASE HELP ME PAY", "please help me pay"),
    ],
)
def test_a_question_said_otherwise_passes(question: str, cached: str) -> None:
    assert fired(question, cached) == ()


def test_a_guard_that_is_switched_off_stays_silent() -> None:
    assert guards.fired("pay 20 euros", "pay 10 euros", {"number": False}) == ()


def test_every_guard_can_be_switched() -> None:
    off = dict.fromkeys(guards.NAMES, False)
    assert guards.fired("Are 20 dollars not unavailable?", "Wie 10 Euro?", off) == ()
    assert guards.never_cache("what is my balance right now", off) == ""


@given(st.text(max_size=200))
def test_no_guard_fires_on_the_question_itself(question: str) -> None:
    assert fired(question, question) == ()
    assert fired(question, f" {question.upper().lower()} ".strip() if question.isascii() else question) == ()


@given(st.text(max_size=120), st.text(max_size=120))
def test_guards_are_symmetric_and_never_raise(one: str, other: str) -> None:
    names = {"number", "date", "unit", "identifier", "negation", "prefix", "entity", "script", "language"}
    assert names & set(fired(one, other)) == names & set(fired(other, one))
    guards.never_cache(one)


@pytest.mark.parametrize(
    ("question", "why"),
    [
        ("What time is it?", "about_now"),
        ("Is the office open today?", "about_now"),
        ("today's exchange rate", "about_now"),
        ("Who won yesterday?", "about_now"),
        ("How does the Today view work?", ""),
        ("What is the exchange rate right now?", "about_now"),
        ("Show my last transactions", "about_me"),
        ("How much is my balance?", "about_me"),
        ("Cancel my subscription.", "action"),
        ("Please lock my card, it was stolen", "action"),
        ("Could you please raise my limit to $500?", "action"),
    ],
)
def test_what_holds_only_for_the_asker_or_the_moment_is_never_cached(question: str, why: str) -> None:
    assert guards.never_cache(question) == why


@pytest.mark.parametrize(
    "question",
    [
        "How do I cancel my subscription?",
        "Can you tell me how to lock my card?",
        "What does it cost to replace a card?",
        "Is there a limit on my account?",
    ],
)
def test_questions_about_how_things_work_are_cached(question: str) -> None:
    assert guards.never_cache(question) == ""
