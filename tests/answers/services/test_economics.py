"""What judging costs and brings."""

from __future__ import annotations

import pytest
from django.urls import reverse

from apps.access.core.prices import Prices
from apps.answers.services.economics import weigh
from apps.metrics import services as metrics
from tests import desks, factories

PRICES = Prices(call=0.004, tokens=400.0, cpu_hour=0.36)
WEEK = {
    "verdict:APPROVE": 2, "verdict:REJECT": 5, "verdict:UNSURE": 1, "promotion:promoted": 2, "judge_tokens": 8_000,
    "judge_ms": 10_000, "static_hit": 30, "origin:golden": 42,
}  # fmt: skip


def test_a_promotion_pays_for_the_verdicts_that_led_to_none() -> None:
    told = weigh(WEEK, PRICES)
    assert (told.verdicts, told.promotions, told.promoted_hits) == (8, 2, 12)
    assert told.cost == pytest.approx(0.08 + 0.001)
    assert told.cost_per_promotion == pytest.approx(0.0405)
    assert told.break_even == pytest.approx(10.125)
    assert told.hits_per_promotion == 6


def test_without_promotions_there_is_nothing_to_divide_by() -> None:
    told = weigh({"verdict:REJECT": 3, "judge_tokens": 10}, PRICES)
    assert (told.cost_per_promotion, told.break_even, told.hits_per_promotion) == (None, None, None)
    assert weigh(WEEK, Prices(call=0.0, tokens=0.0)).break_even is None


@pytest.mark.django_db
def test_the_namespace_shows_it() -> None:
    caller, _ = factories.key()
    for name, number in WEEK.items():
        metrics.count(caller.workspace_id, "answers", "default", name, number)
    metrics.flush()
    space = factories.golden(caller, "How do I pay?", "By card.").namespace
    page = desks.sit().get(reverse("admin:answers_namespace_change", args=[space.pk]))
    assert (page.context["worth"].verdicts, page.context["worth"].promoted_hits) == (8, 12)
    assert 'id="worth"' in page.content.decode()
