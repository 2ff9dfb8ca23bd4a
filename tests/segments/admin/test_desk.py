"""The segment cache's pages: everybody reads, operators decide, nothing of another workspace."""

from __future__ import annotations

import pytest
from django.urls import reverse
from django.utils import timezone

from apps.segments.models import Edge, Pin, Predictor
from apps.segments.services import planning
from tests import desks, factories
from tests.segments import makers

pytestmark = pytest.mark.django_db


def test_an_edge_shows_its_plan_with_reasons_and_leaves_the_shadow_by_an_operators_word() -> None:
    caller, _ = factories.key()
    makers.video(caller, "Gradients")
    edge = Edge.objects.create(
        workspace_id=caller.workspace_id, name="north", capacity_bytes=10**8, limit_bps=1e8, seen_at=timezone.now()
    )
    planning.make(edge)
    page = reverse("admin:segments_edge_change", args=[edge.pk])
    assert "The beginning of Gradients: it should start at once." in desks.sit("viewer").get(page).content.decode()
    act = reverse("admin:segments_edge_act", args=[edge.pk, "activate"])
    assert desks.sit("curator").post(act).status_code == 403
    desks.sit("operator").post(act)
    edge.refresh_from_db()
    assert not edge.shadow
    assert desks.audited("changed")


def test_a_segment_is_pinned_from_the_videos_page() -> None:
    caller, _ = factories.key()
    row = makers.video(caller)
    desk = desks.sit("curator")
    assert desk.get(reverse("admin:segments_video_change", args=[row.pk])).status_code == 200
    desk.post(reverse("admin:segments_video_pin", args=[row.pk]), {"index": "3"})
    assert Pin.objects.get().index == 3


def test_every_page_opens_and_shows_nothing_of_another_workspace() -> None:
    caller, _ = factories.key()
    other, _ = factories.key("other")
    hidden = makers.video(other, "their secret lecture")
    makers.video(caller, "ours")
    Predictor.objects.create(workspace_id=caller.workspace_id, number=1, kind="markov", loss=0.5, baseline=0.4)
    desk = desks.sit("owner")
    for name in ("video", "edge", "pin", "predictor", "event", "training"):
        page = desk.get(reverse(f"admin:segments_{name}_changelist"))
        assert page.status_code == 200, name
        assert "their secret lecture" not in page.content.decode()
    assert desk.get(reverse("admin:segments_video_change", args=[hidden.pk])).status_code == 404
    assert "no better than without it" in desk.get(reverse("admin:segments_predictor_changelist")).content.decode()
    predictor = Predictor.objects.get()
    assert (
        "no better than without it"
        in desk.get(reverse("admin:segments_predictor_change", args=[predictor.pk])).content.decode()
    )
    assert desk.get(reverse("admin:segments_video_add")).status_code == 200
