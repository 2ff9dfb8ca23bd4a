"""What plans know of those who will come, and what an operator's settings make of it."""

from __future__ import annotations

from datetime import timedelta
from typing import Any

import numpy as np
import pytest
from django.urls import reverse
from django.utils import timezone

from apps.access.core.callers import Caller
from apps.segments.core import predictor
from apps.segments.core.control import Measure
from apps.segments.models import Edge, Event, Held, Pin, Plan, Tuning, Video
from apps.segments.services import collapsing, demand, planning, predicting, stock, storage, viewing
from tests import desks, factories
from tests.segments import makers

pytestmark = pytest.mark.django_db


def told(
    caller: Caller, row: Video, what: str, count: int = 1, position: float = 0.0, rendition: int = 0, **ago: float
) -> None:
    Event.objects.bulk_create(
        Event(
            workspace_id=caller.workspace_id, viewer=viewing.pseudonym(caller.workspace_id, f"{row.pk}{ago}{number}"),
            video=row, session=f"{what}{ago}{number}", event=what, position_s=position, rendition=rendition,
            at=timezone.now() - timedelta(**ago),
        )
        for number in range(count)
    )  # fmt: skip


def edge_of(caller: Caller, **more: Any) -> Edge:
    told = {"capacity_bytes": 10**8, "limit_bps": 1e8, "seen_at": timezone.now(), **more}
    return Edge.objects.create(workspace_id=caller.workspace_id, name="north", **told)


def planned(edge: Edge) -> Plan:
    made = planning.make(edge)
    assert made is not None
    return made


def test_starts_of_long_ago_count_less() -> None:
    caller, _ = factories.key()
    lately, long_ago = makers.video(caller, "lately"), makers.video(caller, "long ago")
    told(caller, lately, "play", 12, minutes=10)
    told(caller, long_ago, "play", 12, days=2)
    told(caller, long_ago, "play", 50, position=60.0, minutes=1)  # not at the beginning: no start
    known = stock.stock(caller.workspace_id)
    assert known is not None
    rates = demand.count_starts(caller.workspace_id, known)[:, 0]
    old = 12 * 0.4 / (3 * 86_400)
    assert rates[known.video_of[long_ago.pk]] == pytest.approx(old + demand.UNSEEN_PER_S)
    new = 12 * (0.1 / 3_600 + 0.5 / (8 * 3_600)) + old
    assert rates[known.video_of[lately.pk]] == pytest.approx(new + demand.UNSEEN_PER_S)


def test_a_video_has_a_curve_of_its_own_where_it_was_watched() -> None:
    caller, _ = factories.key()
    own, other = makers.video(caller, "own", segments=4), makers.video(caller, "other", segments=4)
    known = stock.stock(caller.workspace_id)
    assert known is not None
    curve = predictor.Retention.fit([])
    models = predicting.Models(curve, curve, "retention", {str(own.pk): [0.5, 0.5, 1.0, 1.0]})
    found = demand.survival(known, models).reshape(2, 4)
    np.testing.assert_allclose(found[known.video_of[own.pk]], [1.0, 0.5, 0.25, 0.25])
    np.testing.assert_allclose(found[known.video_of[other.pk]], curve.survival(4))


def test_what_was_fetched_for_who_opened_a_page_stays_until_they_start() -> None:
    caller, _ = factories.key()
    opened, watched = makers.video(caller, "opened", renditions=1), makers.video(caller, "watched", renditions=1)
    told(caller, opened, "intent", minutes=2)
    told(caller, watched, "play", 3, minutes=20)
    edge = edge_of(caller, capacity_bytes=10**6, occupied_bytes=1_400_000)
    beginning = storage.address(opened, "0/0.m4s")
    Held.objects.create(edge=edge, path=beginning, bytes=100_000)
    for index in range(13):
        Held.objects.create(edge=edge, path=storage.address(watched, f"0/{index + 5}.m4s"), bytes=100_000)
    gone = {line["url"] for line in planned(edge).evict}
    assert gone
    assert beginning not in gone


def test_an_operators_weights_reach_the_plan() -> None:
    caller, _ = factories.key()
    exam, plain = makers.video(caller, "exam", tags=["exam"]), makers.video(caller, "plain")
    edge = edge_of(caller, occupied_bytes=200_000, capacity_bytes=150_000)
    for row in (exam, plain):
        Held.objects.create(edge=edge, path=storage.address(row, "0/15.m4s"), bytes=100_000)
    for weight, leaves in ((3.0, plain), (0.1, exam)):
        Tuning.objects.update_or_create(workspace_id=caller.workspace_id, defaults={"tags": {"exam": weight}})
        assert planned(edge).evict[0]["url"] == storage.address(leaves, "0/15.m4s")


def test_pins_keep_to_the_share_that_an_operator_sets() -> None:
    caller, _ = factories.key()
    row = makers.video(caller, segments=20, renditions=1)
    Pin.objects.create(workspace_id=caller.workspace_id, video=row)
    edge = edge_of(caller, capacity_bytes=4_000_000)
    assert len(planned(edge).pin) == 2
    Tuning.objects.create(workspace_id=caller.workspace_id, pin_share=0.25)
    assert len(planned(edge).pin) == 10


def test_the_sources_own_score_keeps_what_was_used_last() -> None:
    caller, _ = factories.key()
    row = makers.video(caller, segments=40, renditions=1)
    told(caller, row, "heartbeat", position=6.0 * 35 + 1, minutes=20)
    told(caller, row, "play", 5, minutes=30)
    Tuning.objects.create(workspace_id=caller.workspace_id, source_score=True)
    edge = edge_of(caller, occupied_bytes=200_000, capacity_bytes=150_000)
    for index in (34, 35):
        Held.objects.create(edge=edge, path=storage.address(row, f"0/{index}.m4s"), bytes=100_000)
    assert planned(edge).evict[0]["url"] == storage.address(row, "0/34.m4s")


@pytest.mark.parametrize("automatic", [True, False])
def test_measures_against_a_collapse_are_taken_by_themselves_where_that_is_set(automatic: bool) -> None:
    caller, _ = factories.key()
    Tuning.objects.create(workspace_id=caller.workspace_id, automatic=automatic)
    edge = edge_of(caller, usual_hit=0.9, byte_hit=0.9)
    for _ in range(20):
        collapsing.follow(edge, 0, 10**7)
    assert edge.collapsed
    assert edge.measures == (sorted(Measure) if automatic else [])


def test_only_operators_change_the_weights() -> None:
    caller, _ = factories.key()
    page = desks.sit("operator").get(reverse("admin:segments_tuning_changelist"), follow=True)
    row = Tuning.objects.get(workspace_id=caller.workspace_id)
    form = page.context["adminform"].form
    values = {name: form.initial[name] for name in form.fields if form.initial[name] not in (False, None)}
    change = reverse("admin:segments_tuning_change", args=[row.pk])
    wrong = desks.sit("operator", username="o2").post(change, {**values, "tags": '{"exam": "much"}'})
    assert "tags and weights from 0 to 10" in wrong.content.decode()
    said = {**values, "tags": '{"exam": 2}', "first_minute": "1.5"}
    assert desks.sit("curator").post(change, said).status_code == 403
    desks.sit("operator", username="o3").post(change, said)
    row.refresh_from_db()
    assert (row.tags, row.first_minute) == ({"exam": 2}, 1.5)
    assert desks.audited("changed")


def test_a_plan_follows_the_knowledge_tree_and_the_course() -> None:
    caller, _ = factories.key()
    outline = [
        {"title": "Slopes", "start": 0, "end": 60, "prerequisites": []},
        {"title": "Descent", "start": 60, "end": 120, "prerequisites": ["Slopes"]},
    ]
    first = makers.video(caller, "first", outline=outline, course="ML")
    second = makers.video(caller, "second", course="ML", renditions=1)
    told(caller, first, "heartbeat", position=6.0 * 18 + 1, rendition=1, seconds=3)
    reasons = {line["url"]: line["reason"] for line in planned(edge_of(caller)).prewarm}
    assert reasons[storage.address(first, "1/0.m4s")] == "Descent builds on Slopes."
    assert "second follows first" in reasons[storage.address(second, "0/0.m4s")]
    assert "will be there" in reasons[storage.address(first, "1/19.m4s")]
