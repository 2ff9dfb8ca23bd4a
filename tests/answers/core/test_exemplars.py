"""Labels as examples: what they say of their surroundings, and what the offline judge makes of it."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from apps.answers.core.judge import Example, Exemplars, OfflineJudge, Pair, Verdict


def direction(degrees: float) -> np.ndarray[tuple[int], np.dtype[np.float32]]:
    return np.array([np.cos(np.radians(degrees)), np.sin(np.radians(degrees))], np.float32)


LABELS = Exemplars(np.stack([direction(d) for d in (10, 40, 60)]), ["a", "a", "b"], [True, False, True])


def test_an_approved_question_supports_its_answer() -> None:
    found = LABELS.features(direction(12), "a", 0.8, 0.1)
    assert found["support"] == pytest.approx(np.cos(np.radians(2)))
    assert found["support_margin"] == pytest.approx(np.cos(np.radians(2)) - 0.7)


def test_a_refused_question_counts_against_its_answer_only() -> None:
    assert LABELS.features(direction(41), "a", 0.8, 0.1)["refuted"] == pytest.approx(np.cos(np.radians(1)))
    assert LABELS.features(direction(41), "b", 0.8, 0.1)["refuted"] == 0


def test_an_example_of_another_answer_narrows_the_margin() -> None:
    found = LABELS.features(direction(59), "a", 0.8, 0.5)
    assert found["support_margin"] == pytest.approx(0.8 - np.cos(np.radians(1)))


def test_a_label_is_no_evidence_about_itself() -> None:
    assert LABELS.features(direction(10), "a", 0.8, 0.1, labelled=True)["support"] == pytest.approx(0.8)
    assert LABELS.features(direction(40), "a", 0.8, 0.1, labelled=True)["refuted"] == 0


@given(st.floats(-1, 1), st.none() | st.floats(0, 1))
def test_without_labels_cosine_and_margin_remain(similarity: float, margin: float | None) -> None:
    nothing = Exemplars(np.empty((0, 2), np.float32), [], [])
    found = nothing.features(direction(0), "a", similarity, margin)
    assert found["support"] == max(similarity, 0)
    assert found["refuted"] == 0


def test_the_judge_learns_to_heed_refusals() -> None:
    random = np.random.default_rng(0)
    examples = []
    for _ in range(300):
        refuted = float(random.uniform(0, 1))
        similarity = float(random.uniform(0.5, 0.85))
        features = {"support": similarity, "support_margin": 0.1, "refuted": refuted}
        examples.append(Example(similarity, 0.1, refuted < 0.5, features))
    judge = OfflineJudge.fit(examples)
    around = {"support": 0.7, "support_margin": 0.1}
    assert judge.judge(Pair("", "", "", 0.7, 0.1, {**around, "refuted": 0.1})).verdict is Verdict.APPROVE
    assert judge.judge(Pair("", "", "", 0.7, 0.1, {**around, "refuted": 0.9})).verdict is Verdict.REJECT
    again = OfflineJudge.from_dict(judge.to_dict())
    assert again.probability(0.7, 0.1, {"refuted": 0.3}) == judge.probability(0.7, 0.1, {"refuted": 0.3})


def test_what_an_older_version_learnt_is_forgotten_instead_of_misread() -> None:
    state = {"centre": [0, 0], "scale": [1, 1], "weights": [1, 1, 0], "approve_at": 0.9}
    assert OfflineJudge.from_dict(state).fit_ is None
