"""Thresholds from labels, with bounds."""

import numpy as np
from hypothesis import given
from hypothesis import strategies as st

from apps.answers.core.bounds import upper_bound
from apps.answers.core.calibration import curve, propose, tune
from apps.answers.core.judge import Example

EXAMPLES = st.lists(st.builds(Example, st.floats(0, 1), st.none(), st.booleans()), max_size=80)


@given(EXAMPLES, st.sampled_from([0.01, 0.05, 0.2]))
def test_a_proposal_keeps_its_budget_on_its_own_labels(examples: list[Example], budget: float) -> None:
    proposal = propose(examples, budget)
    if proposal.tau_static is None:
        assert proposal.more_labels >= 0
        assert proposal.note
    else:
        hits = [example for example in examples if example.similarity >= proposal.tau_static]
        wrong = sum(not example.same for example in hits)
        assert not hits or upper_bound(wrong, len(hits)) <= budget + 1e-9 or len(hits) < len(examples)
        assert proposal.sigma_min is not None
        assert 0 <= proposal.sigma_min <= proposal.tau_static <= 1


def test_too_few_labels_say_how_many_more() -> None:
    proposal = propose([Example(0.9, None, True)] * 50, 0.02)
    assert (proposal.tau_static, proposal.more_labels) == (None, 99)
    assert propose([Example(0.9, None, True)] * 149, 0.02).tau_static == 0.9


@given(EXAMPLES)
def test_a_curve_runs_from_strict_to_loose(examples: list[Example]) -> None:
    points = curve(examples)
    assert [point.tau for point in points] == sorted((point.tau for point in points), reverse=True)
    assert all(0 <= point.precision_lower <= point.precision <= 1 for point in points)


def test_a_tuned_threshold_spends_the_budget_and_no_more() -> None:
    random = np.random.default_rng(0)
    examples = [Example(float(s), None, bool(random.random() < s)) for s in random.random(2_000)]
    tau = tune(examples, 2_000, 0.02)
    wrong = sum(not example.same for example in examples if example.similarity >= tau)
    assert upper_bound(wrong, 2_000) <= 0.02 < upper_bound(wrong + 8, 2_000)
