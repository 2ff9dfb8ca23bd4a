"""Rows of the path: exactly the fields of the contract, medians over repetitions, and only what a case is about."""

from __future__ import annotations

import pytest

from apps.answers.bench.client import Reply
from apps.answers.bench.measured import Case, Measured

FIELDS = ["part", "system", "door", "case", "entries", "clients", "judge", "p50_ms", "p95_ms", "p99_ms", "per_s"]


def hits(*times: float) -> list[Reply]:
    return [Reply(ms, 1.0, "dynamic_hit") for ms in times]


def test_a_row_has_the_fields_of_the_contract_in_their_order() -> None:
    measured = Measured()
    measured.add(Case("touchstone", "http", "exact", 1_000, 1), hits(2.0, 4.0), 0.5)
    (row,) = measured.rows()
    assert list(row) == FIELDS
    assert (row["judge"], row["p50_ms"], row["per_s"]) == ("idle", 3.0, 4.0)


def test_one_slow_repetition_does_not_change_the_median() -> None:
    measured, case = Measured(), Case("gptcache", "http", "semantic", 1_000, 1)
    for times in ((5.0, 5.0), (500.0, 900.0), (6.0, 6.0)):
        measured.add(case, hits(*times), 1.0)
    (row,) = measured.rows()
    assert (row["p50_ms"], row["p99_ms"]) == (6.0, 6.0)


def test_replies_that_are_not_what_the_case_is_about_are_counted_apart() -> None:
    measured = Measured()
    replies = [*hits(1.0), Reply(99.0, 0.0, "miss"), Reply(99.0, 0.0, "bypass")]
    measured.add(Case("touchstone", "http", "semantic", 10, 1), replies, 1.0)
    measured.add(Case("touchstone", "http", "miss", 10, 1), replies, 1.0)
    rows = {row["case"]: row for row in measured.rows()}
    assert (measured.asked, measured.strange) == (6, 3)
    assert (rows["semantic"]["p99_ms"], rows["miss"]["p50_ms"]) == (1.0, 99.0)


def test_in_process_the_embedder_is_also_taken_out() -> None:
    measured = Measured()
    measured.add(Case("touchstone", "process", "semantic", 10, 1), hits(5.0, 5.0), 0.01)
    whole, bare = measured.rows()
    assert (whole["part"], whole["p50_ms"], whole["per_s"]) == ("path", 5.0, 200.0)
    assert (bare["part"], bare["p50_ms"], bare["per_s"]) == ("path_without_embedding", 4.0, 250.0)


@pytest.mark.parametrize("outcome", ["static_hit", "dynamic_hit"])
def test_both_tiers_hit(outcome: str) -> None:
    assert Reply(1.0, 0.0, outcome).hit
    assert not Reply(1.0, 0.0, "miss").hit
