"""Plans as they come, and whether an edge stands by them."""

from __future__ import annotations

import json

import pytest

from apps.segments.core.control import Mode
from tests.workers.edge.makers import ALLOWED, access
from workers.edge import plans
from workers.edge.journal import Access
from workers.edge.standing import Standing


def plan(**told: object) -> plans.Plan:
    return plans.read({"id": 1, "shadow": False, "budget_bytes": 10**9, **told}, ALLOWED)


def prewarming(*names: str, shadow: bool = False) -> plans.Plan:
    return plan(shadow=shadow, prewarm=[{"url": f"/media/{name}", "bytes": 50_000} for name in names])


def window(standing: Standing, began: float, *extra: Access) -> None:
    for number in range(60):
        standing.take(access(f"/media/{number % 3}", "MISS" if began == 1 and number < 3 else "HIT", at=began + number))
    for one in extra:
        standing.take(one)


def test_an_edge_falls_back_where_the_plan_loses_and_an_operator_ends_it() -> None:
    standing = Standing(10**7, 50)
    assert standing.decide(prewarming("x"))
    window(standing, 1.0)
    assert standing.close_window(10.0) is None
    assert standing.close_window(100.0) is not None and standing.mode is Mode.ACTIVE
    # Of what LRU would not fetch at all, the plan fetches much: a prewarm that nobody asks for.
    window(standing, 200.0, *(access(f"/media/w{n}", "MISS", at=250.0, source="prewarm") for n in range(9)))
    for number in range(2):  # one honest miss, so that there is something to compare with
        standing.take(access(f"/media/new{number}", "MISS", at=251.0))
    assert standing.close_window(300.0) is not None
    assert standing.told == "fallback"
    assert not standing.decide(prewarming("y"))
    standing.mode = Mode.SHADOW  # what three better windows make of it
    assert not standing.decide(prewarming("y"))
    assert not standing.decide(prewarming("y", shadow=True))
    assert standing.decide(prewarming("y"))


def test_a_window_with_few_requests_says_nothing() -> None:
    standing = Standing(10**7, 50)
    standing.take(access(cache="MISS", at=1.0))
    assert standing.close_window(100.0) is None and not standing.windows


def test_a_standing_outlives_the_agent() -> None:
    standing, other = Standing(10**7, 50), Standing(10**7, 50)
    standing.decide(prewarming("x", shadow=True))
    window(standing, 1.0)
    standing.close_window(100.0)
    other.load(json.loads(json.dumps(standing.dump())))
    assert other.dump() == standing.dump() and other.told == "shadow"


@pytest.mark.parametrize(
    "told",
    [
        None,
        [],
        {},
        {"id": 1, "evict": 3},
        {"id": 1, "limit_bps": "fast"},
        {"id": 1, "budget_bytes": float("nan")},
    ],
)
def test_a_plan_that_cannot_be_meant_is_refused(told: object) -> None:
    with pytest.raises(plans.BrokenPlan):
        plans.read(told, ALLOWED)


def test_a_plan_without_a_word_about_shadow_is_one() -> None:
    assert plans.read({"id": 1}, ALLOWED).shadow
    assert plans.read({"id": 1, "shadow": "no"}, ALLOWED).shadow


def test_a_line_counts_once() -> None:
    told = plan(evict=["/media/a", {"url": "/media/a"}, {"url": "/media/b", "bytes": -4}])
    assert [one.target.key for one in told.evict] == ["/media/a"]
    assert len(told.refused) == 1
