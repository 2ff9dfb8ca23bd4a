"""The strict decision of the request path."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from apps.answers.core import guards
from apps.answers.core.policy import Near, Policy, PolicyError, decide

OFF = dict.fromkeys(guards.NAMES, False)
SIMILAR = st.floats(-1, 1)
GOLDEN = st.lists(st.builds(Near, st.just("how do i pay"), SIMILAR, st.sampled_from(["a", "b", "c"])), max_size=5)
ENTRY = st.none() | st.builds(Near, st.just("how can i pay"), SIMILAR, st.sampled_from([None, "a", "b"]))
POLICIES = st.builds(
    lambda low, high, dynamic, on: Policy(
        sigma_min=min(low, high), tau_static=max(low, high), tau_dynamic=dynamic, guards=dict.fromkeys(guards.NAMES, on)
    ),
    st.floats(0, 1),
    st.floats(0, 1),
    st.floats(0, 1),
    st.booleans(),
)


def best_first(golden: list[Near]) -> list[Near]:
    return sorted(golden, key=lambda near: -near.similarity)


@given(POLICIES, GOLDEN, ENTRY, st.floats(0, 1))
def test_nothing_is_served_below_its_threshold(
    policy: Policy, golden: list[Near], entry: Near | None, least: float
) -> None:
    golden = best_first(golden)
    decision = decide("how do i pay now", policy, golden, entry, least)
    if decision.outcome == "static_hit":
        assert golden[0].similarity >= max(policy.tau_static, least)
    if decision.outcome == "dynamic_hit":
        assert entry is not None
        assert entry.similarity >= max(policy.tau_dynamic, least)


@given(POLICIES, GOLDEN, ENTRY)
def test_a_grey_question_is_never_a_static_hit(policy: Policy, golden: list[Near], entry: Near | None) -> None:
    golden = best_first(golden)
    decision = decide("how do i pay now", policy, golden, entry)
    if decision.grey:
        assert decision.outcome != "static_hit"
        assert golden[0].similarity >= policy.sigma_min


@given(POLICIES, GOLDEN, ENTRY, st.floats(0, 1))
def test_a_client_may_only_tighten(policy: Policy, golden: list[Near], entry: Near | None, least: float) -> None:
    golden = best_first(golden)
    free = decide("how do i pay now", policy, golden, entry).outcome
    tight = decide("how do i pay now", policy, golden, entry, least).outcome
    assert not (free == "miss" and tight != "miss")


def test_a_guarded_static_hit_is_demoted_to_the_grey_zone() -> None:
    decision = decide("pay 20 euros", Policy(), [Near("pay 10 euros", 0.97, "a")], None)
    assert (decision.outcome, decision.guards, decision.grey) == ("miss", ("number",), True)


def test_a_direct_hit_needs_a_margin_over_other_answers() -> None:
    golden = [Near("pears", 0.9, "a"), Near("plums", 0.88, "b")]
    assert decide("apples", Policy(), golden, None).guards == ("margin",)
    assert decide("apples", Policy(guards=OFF), golden, None).outcome == "static_hit"


def test_an_alias_of_the_same_answer_is_no_rival() -> None:
    golden = [Near("pears", 0.9, "a"), Near("a pear", 0.89, "a"), Near("plums", 0.7, "b")]
    decision = decide("apples", Policy(), golden, None)
    assert decision.outcome == "static_hit"
    assert decision.margin == pytest.approx(0.2)


def test_a_promotion_must_agree_with_the_golden_tier_around_the_question() -> None:
    golden = [Near("pears", 0.8, "a"), Near("plums", 0.6, "b")]
    assert decide("apples", Policy(), golden, Near("grapes", 0.95, "b")).outcome == "miss"
    assert decide("apples", Policy(), golden, Near("grapes", 0.95, "a")).outcome == "dynamic_hit"
    assert decide("apples", Policy(), golden, Near("grapes", 0.95, None)).outcome == "dynamic_hit"


@pytest.mark.parametrize(
    ("values", "field"),
    [
        ({"tau_static": 1.2}, "tau_static"),
        ({"tau_static": "high"}, "tau_static"),
        ({"tau_static": True}, "tau_static"),
        ({"tau_static": 0.4, "sigma_min": 0.5}, "sigma_min"),
        ({"entry_ttl_s": 0}, "entry_ttl_s"),
        ({"context": "last_turns(0)"}, "context"),
        ({"guards": {"magic": True}}, "guards"),
        ({"guards": []}, "guards"),
        ({"paused": "no"}, "paused"),
        ({"tau": 1}, "tau"),
        ({"tau_static": float("nan")}, "tau_static"),
    ],
)
def test_a_value_that_is_not_valid_names_its_field(values: dict[str, object], field: str) -> None:
    with pytest.raises(PolicyError) as caught:
        Policy.from_mapping(values)
    assert [name for name, _ in caught.value.errors] == [field]


@given(POLICIES)
def test_a_policy_survives_the_way_to_json_and_back(policy: Policy) -> None:
    assert Policy.from_mapping(policy.to_mapping()) == policy
