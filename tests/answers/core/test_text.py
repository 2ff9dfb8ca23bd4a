"""Questions as keys."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from apps.answers.core import text
from apps.answers.core.text import Turn

TURNS = st.lists(st.builds(Turn, st.sampled_from(["user", "assistant", "system"]), st.text(max_size=20)), max_size=6)


@given(st.text())
def test_normalising_twice_changes_nothing_more(question: str) -> None:
    once = text.normalise(question)
    assert text.normalise(once) == once


@pytest.mark.parametrize(
    ("one", "other"),
    [
        ("How  do I\tpay?", "how do i pay?"),
        ("ﬁx it", "FIX it"),
        ("Straße", "STRASSE"),
        ("a\u200bb", "ab"),
        ("\ufeffhello", "hello"),
        ("Café", "Cafe\u0301"),
    ],
)
def test_spellings_of_one_question_share_one_key(one: str, other: str) -> None:
    assert text.digest(one) == text.digest(other)


def test_different_questions_have_different_keys() -> None:
    assert text.digest("pay 10 euros") != text.digest("pay 100 euros")


@pytest.mark.parametrize("question", ["", "  \n\t", "\u200b", "a\0b", "\ud800", "x" * 16_385])
def test_what_is_not_a_question_is_refused(question: str) -> None:
    with pytest.raises(ValueError, match=r"question|characters"):
        text.check_question(question)


@pytest.mark.parametrize("question", ["؟كيف أدفع", "💳❓", "x" * 16_384, "как оплатить"])
def test_any_script_is_a_question(question: str) -> None:
    assert text.check_question(question) == question


@given(TURNS)
def test_context_does_not_matter_when_it_is_ignored(turns: list[Turn]) -> None:
    assert text.fingerprint(turns, "ignore") == b""


@given(TURNS, TURNS)
def test_different_conversations_never_share_a_fingerprint(one: list[Turn], other: list[Turn]) -> None:
    normal = [[(turn.role, text.normalise(turn.content)) for turn in turns] for turns in (one, other)]
    same = text.fingerprint(one, "exact") == text.fingerprint(other, "exact")
    assert same == (normal[0] == normal[1])


@given(TURNS)
def test_only_the_last_turns_and_the_system_prompt_count(turns: list[Turn]) -> None:
    older = [Turn("user", "something said long ago"), *turns, Turn("user", "a"), Turn("assistant", "b")]
    newer = [turn for turn in older if turn.role == "system"] + [Turn("user", "a"), Turn("assistant", "b")]
    assert text.fingerprint(older, "last_turns", 2) == text.fingerprint(newer, "last_turns", 2)
