"""The judge's queue, brought about for measuring."""

from __future__ import annotations

from pathlib import Path

import pytest

from apps.answers import services
from apps.answers.bench import backlog, filling
from apps.answers.bench.questions import pool
from apps.answers.models import Entry, GoldenQuestion, Namespace, Verification
from apps.work import services as work

pytestmark = pytest.mark.django_db


def test_full_and_dead_queue_as_many_as_they_say_and_idle_leaves_none(
    valkey: object, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(backlog, "DEPTH", 30)
    caller, _ = filling.bench_caller()
    filling.namespace(caller, "default")
    for state, judge in (("full", "offline"), ("dead", "chat")):
        backlog.bring_about(state)
        assert Verification.objects.filter(status="queued").count() == 30
        assert work.depth("judge") == 30
        assert Namespace.objects.get(name="default").judge == judge
    backlog.bring_about("idle")
    assert not Verification.objects.exists()
    assert work.depth("judge") == 0


def test_both_tiers_are_filled_and_serve(tmp_path: Path) -> None:
    caller, _ = filling.bench_caller()
    row = filling.namespace(caller, "default")
    known = pool(tmp_path, 24, None)
    filling.publish(row, known.texts[:8], known.vectors[:8], known.classes[:8])
    filling.fill(row.id, known.texts[8:], known.vectors[8:])
    assert (GoldenQuestion.objects.count(), Entry.objects.count()) == (8, 16)
    outcomes = [services.answer(caller, services.Question(text)).outcome for text in (known.texts[0], known.texts[9])]
    assert outcomes == ["static_hit", "dynamic_hit"]
