"""Drift is told when there is some, and not when there is none."""

from __future__ import annotations

import numpy as np
import pytest

from apps.answers.core import drift


@pytest.mark.parametrize("seed", range(20))
def test_samples_of_one_distribution_do_not_drift(seed: int) -> None:
    rng = np.random.default_rng(seed)
    before, now = rng.beta(8, 3, 2_000).tolist(), rng.beta(8, 3, 250).tolist()
    assert drift.similarity(before, now) is None
    assert drift.share("grey", (200, 2_000), (int(rng.binomial(250, 0.1)), 250)) is None


def test_a_shift_is_told_with_its_levels() -> None:
    rng = np.random.default_rng(1)
    found = drift.similarity(rng.beta(8, 3, 2_000).tolist(), rng.beta(5, 4, 250).tolist())
    assert found is not None and found.now < found.before
    assert drift.share("grey", (200, 2_000), (75, 250)) == drift.Drift("grey", 0.1, 0.3, pytest.approx(9.2, abs=0.3))


def test_one_value_again_and_again_is_no_trouble() -> None:
    assert drift.similarity([0.5] * 100, [0.5] * 50) is None
    assert drift.share("grey", (0, 100), (0, 100)) is None
