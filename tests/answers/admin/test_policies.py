"""Operators change policies in the console: checked at the fields, with history and undo."""

from __future__ import annotations

from typing import Any

import pytest
from django.test import Client
from django.urls import reverse

from apps.answers.admin.rules import PolicyForm
from apps.answers.core.policy import NAMES
from apps.answers.models import Calibration, Label, Namespace, PolicyChange, Replay
from tests import desks, factories

pytestmark = pytest.mark.django_db


def space() -> Namespace:
    factories.key()
    return Namespace.objects.get()


def page_of(row: Namespace) -> str:
    return reverse("admin:answers_namespace_change", args=[row.pk])


def send(desk: Client, row: Namespace, verb: str = "save", **more: Any) -> Any:
    row.refresh_from_db()
    form = PolicyForm(row)
    values = {name: form[name].value() for name in form.fields}
    values = {name: value for name, value in {**values, **more}.items() if value not in (None, False)}
    return desk.post(page_of(row), {**values, "act": verb}, follow=True)


def test_every_setting_of_the_policy_has_a_field() -> None:
    assert set(NAMES) < set(PolicyForm(space()).fields)
    grouped = [field.name for _title, fields in PolicyForm(Namespace.objects.get()).groups() for field in fields]
    assert set(NAMES) < set(grouped)
    assert len(grouped) == len(set(grouped))


def test_a_change_is_kept_with_its_reason_and_can_be_undone() -> None:
    row, desk = space(), desks.sit("operator")
    send(desk, row, tau_static=0.91, guards=["negation"], reason="too loose")
    row.refresh_from_db()
    assert row.policy["tau_static"] == 0.91
    assert [name for name, on in row.policy["guards"].items() if on] == ["negation"]
    change = row.policy_changes.get(reason="too loose")
    assert "too loose" in desk.get(page_of(row)).content.decode()
    desk.post(page_of(row), {"act": "undo", "key": change.pk})
    row.refresh_from_db()
    assert row.policy["tau_static"] == 0.85
    assert desks.audited("changed the policy of")


def test_what_is_not_valid_is_told_at_its_field() -> None:
    row, desk = space(), desks.sit("operator")
    page = send(desk, row, sigma_min=0.9, context="sometimes")
    assert "context" in page.context["form"].errors
    page = send(desk, row, sigma_min=0.9)
    assert page.context["form"].errors["sigma_min"] == ["sigma_min must not be above tau_static."]
    row.refresh_from_db()
    assert row.policy["sigma_min"] == 0.5


def test_another_judge_and_four_eyes_are_chosen() -> None:
    row, desk = space(), desks.sit("operator")
    send(desk, row, judge="human", four_eyes=False)
    row.refresh_from_db()
    assert (row.judge, row.judge_version, row.four_eyes) == ("human", "human:1", False)
    assert desks.audited("configured")


def test_promotion_is_paused_and_resumed() -> None:
    row, desk = space(), desks.sit("operator")
    desk.post(page_of(row), {"act": "pause"})
    row.refresh_from_db()
    assert row.promotion_paused == "Paused by hand."
    desk.post(page_of(row), {"act": "resume"})
    row.refresh_from_db()
    assert row.promotion_paused == ""
    assert desks.audited("paused promotion in")
    assert desks.audited("resumed promotion in")


def label(row: Namespace, similarity: float, same: bool) -> None:
    values = {"question": f"q{similarity}", "golden_question": "g", "source": "curator"}
    Label.objects.create(namespace=row, similarity=similarity, same=same, **values)


def test_a_calibration_is_drawn_and_its_proposal_applied() -> None:
    row, desk = space(), desks.sit("operator")
    for step in range(200):
        label(row, 0.9 + step / 2_500, True)
        label(row, 0.5 + step / 2_500, False)
    desk.post(page_of(row), {"act": "calibrate"})
    study = Calibration.objects.get()
    page = desk.get(page_of(row))
    assert "<polyline" in page.content.decode()
    assert page.context["curve"].marks
    desk.post(page_of(row), {"act": "apply", "key": study.pk})
    row.refresh_from_db()
    assert row.policy["tau_static"] == study.proposal["tau_static"]


def test_a_calibration_without_a_proposal_is_not_applied() -> None:
    row, desk = space(), desks.sit("operator")
    desk.post(page_of(row), {"act": "calibrate"})
    study = Calibration.objects.get()
    page = desk.post(page_of(row), {"act": "apply", "key": study.pk}, follow=True)
    assert "proposes no thresholds" in desks.messages(page)


def test_a_candidate_is_replayed_compared_and_put_in_force() -> None:
    row, desk = space(), desks.sit("operator")
    page = send(desk, row, "replay", tau_static=0.7)
    replay = Replay.objects.get()
    assert "It runs in the background" in page.content.decode()
    row.refresh_from_db()
    assert row.policy["tau_static"] == 0.85
    side = {"static_share": 0.2, "hit_share": 0.3, "static_hit": 2, "miss": 7, "error": None, "judge_calls": 4}
    result = {
        "requests": 10,
        "questions": 9,
        "current": side,
        "candidate": {**side, "static_share": 0.5, "judge_calls": 6},
    }
    Replay.objects.filter(pk=replay.pk).update(status="done", result=result)
    url = reverse("admin:answers_replay_change", args=[replay.pk])
    measures = {str(each.label): each for each in desk.get(url).context["measures"]}
    assert (measures["Answered from golden answers"].change, measures["Answered from golden answers"].tone) == (
        "+30.0 points",
        "good",
    )
    assert (measures["Judge calls"].change, measures["Judge calls"].tone) == ("+2", "bad")
    desk.post(url)
    row.refresh_from_db()
    assert row.policy["tau_static"] == 0.7


def test_a_namespace_is_made_once() -> None:
    space()
    desk = desks.sit("operator")
    page = desk.post(reverse("admin:answers_namespace_add"), {"name": "billing"}, follow=True)
    assert "default policy" in desks.messages(page)
    assert Namespace.objects.filter(name="billing").exists()
    again = desk.post(reverse("admin:answers_namespace_add"), {"name": "billing"})
    assert "name" in again.context["adminform"].form.errors


def test_curators_read_a_policy_and_change_nothing() -> None:
    row, desk = space(), desks.sit("curator")
    assert "Put in force" not in desk.get(page_of(row)).content.decode()
    before = PolicyChange.objects.count()
    for verb in ("save", "pause", "calibrate"):
        assert send(desk, row, verb, tau_static=0.7).status_code == 403
    assert PolicyChange.objects.count() == before
