"""Replay: run a candidate policy over recorded or uploaded traffic beside the current one."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Any
from uuid import UUID

import numpy as np
from numpy.typing import NDArray

from apps.access import services as access
from apps.access.core.callers import Caller
from apps.answers.core import text
from apps.answers.core.bounds import lower_bound, upper_bound
from apps.answers.core.judge import Judge, OfflineJudge, Pair, Verdict
from apps.answers.core.policy import Policy, PolicyError
from apps.answers.core.simulation.cache import NONE, Cache, Golden, Traffic
from apps.answers.models import GoldenQuestion, Label, Namespace, Query, Replay
from apps.answers.services import powers
from apps.answers.services.judging.governing import tokens_per_verdict

MOST_REQUESTS = 20_000
MOST_QUESTIONS = 6_000


@dataclass(frozen=True, slots=True)
class Scene:
    """What both policies replay: distinct questions, the order they were asked in, and what is known of pairs."""

    traffic: Traffic
    golden: Golden
    asked: Sequence[int]
    known: dict[tuple[bytes, int], bool]
    digests: Sequence[bytes]


def start_replay(
    caller: Caller,
    namespace: Namespace,
    candidate: dict[str, Any],
    questions: Sequence[str] = (),
    since: datetime | None = None,
) -> Replay:
    """Queue a replay of a candidate policy; without questions the recorded traffic is replayed.

    Raises:
        Invalid: the candidate is not a policy, or the uploaded traffic holds something that is not a question.
    """
    try:
        policy = Policy.from_mapping({**namespace.policy, **candidate})
    except PolicyError as problem:
        raise access.Invalid("The candidate is not a valid policy.", errors=problem.errors) from problem
    if len(questions) > MOST_REQUESTS:
        raise access.Invalid(f"A replay takes up to {MOST_REQUESTS} questions.", field="traffic")
    for number, question in enumerate(questions):
        try:
            text.check_question(question)
        except ValueError as problem:
            raise access.Invalid(str(problem), field=f"traffic.{number}") from problem
    return Replay.submit(
        namespace=namespace,
        candidate=policy.to_mapping(),
        traffic="uploaded" if questions else "recorded",
        questions=list(questions),
        since=since,
        by=caller.name,
    )


def perform_replay(row: Replay) -> None:
    """Run both policies over the traffic and keep the comparison on the row."""
    scene = _scene(row)
    judge, tokens, outcomes = powers.judge_of(row.namespace), tokens_per_verdict(row.namespace), []
    for policy in (row.namespace.policy, row.candidate):
        row.renew()
        outcome = _outcome(scene, Policy.from_mapping(policy), judge)
        outcomes.append({**outcome, "judge_tokens": outcome["judge_calls"] * tokens})
    current, candidate = outcomes
    result = {"requests": len(scene.asked), "questions": len(scene.traffic.texts)}
    Replay.objects.filter(pk=row.pk).update(result={**result, "current": current, "candidate": candidate})


def _scene(row: Replay) -> Scene:
    stream = row.questions or _recorded(row)
    places: dict[bytes, int] = {}
    distinct: list[str] = []
    asked = []
    for question in stream[:MOST_REQUESTS]:
        digest = text.digest(question)
        if digest not in places:
            if len(distinct) == MOST_QUESTIONS:
                continue
            places[digest] = len(distinct)
            distinct.append(question)
        asked.append(places[digest])
    golden, vectors, numbers = _golden(row.namespace)
    own = powers.embedder().embed(distinct)
    traffic = Traffic(distinct, own @ own.T, own @ vectors.T)
    return Scene(traffic, golden, asked, _known(row.namespace, numbers), list(places))


def _recorded(row: Replay) -> list[str]:
    rows = Query.objects.filter(namespace=row.namespace, context=b"").exclude(outcome=Query.Outcome.BYPASS)
    if row.since:
        rows = rows.filter(created_at__gte=row.since)
    newest = list(rows.order_by("-created_at").values_list("question", flat=True)[:MOST_REQUESTS])
    return newest[::-1]


def _golden(namespace: Namespace) -> tuple[Golden, NDArray[np.float32], dict[UUID, int]]:
    """Load the golden tier: its questions, their vectors, and each golden answer's number."""
    rows = GoldenQuestion.objects.filter(namespace=namespace).order_by("pk").values_list("text", "golden_id")
    numbers: dict[UUID, int] = {}
    answers = [numbers.setdefault(golden, len(numbers)) for _, golden in rows]
    texts = [question for question, _ in rows]
    return Golden(texts, answers), powers.embedder().embed(texts), numbers


def _known(namespace: Namespace, numbers: dict[UUID, int]) -> dict[tuple[bytes, int], bool]:
    """Collect what people said of (question, golden answer)."""
    said = {}
    for label in Label.objects.filter(namespace=namespace, golden_id__in=list(numbers)).order_by("created_at"):
        if label.golden_id:
            said[text.digest(label.question), numbers[label.golden_id]] = label.same
    return said


def _outcome(scene: Scene, policy: Policy, judge: Judge) -> dict[str, Any]:
    """Replay the traffic under one policy; the error is estimated from the served pairs that people labelled."""
    calls = {"count": 0}

    def verdict(question: int, golden: int, similarity: float, margin: float) -> Verdict:
        calls["count"] += 1
        pair = Pair(scene.traffic.texts[question], scene.golden.texts[golden], "", similarity, margin)
        return judge.judge(pair).verdict if isinstance(judge, OfflineJudge) else Verdict.UNSURE

    cache = Cache(policy, scene.traffic, scene.golden, verdict)
    counts = {"static_hit": 0, "dynamic_hit": 0, "miss": 0}
    golden = 0
    for question in scene.asked:
        served = cache.ask(question, NONE)
        counts[served.outcome] += 1
        golden += served.from_golden
    total = max(len(scene.asked), 1)
    approvals = sum(said is Verdict.APPROVE for said in cache.verdicts.values())
    return {
        "static_share": golden / total,
        "hit_share": (total - counts["miss"]) / total if scene.asked else 0.0,
        **counts,
        "judge_calls": calls["count"],
        "approvals": approvals,
        **_error(scene, policy),
    }


def _error(scene: Scene, policy: Policy) -> dict[str, Any]:
    """Estimate the error of direct hits from labelled pairs at or above the threshold, with its 95% interval."""
    wrong = labelled = 0
    for question in range(len(scene.traffic.texts)):
        row = scene.traffic.golden[question]
        if len(row) == 0 or row.max() < policy.tau_static:
            continue
        answer = scene.golden.answers[int(row.argmax())]
        same = scene.known.get((scene.digests[question], answer))
        if same is not None:
            labelled += 1
            wrong += not same
    return {
        "labelled_hits": labelled,
        "error": wrong / labelled if labelled else None,
        "error_lower95": lower_bound(wrong, labelled, 0.975),
        "error_upper95": upper_bound(wrong, labelled, 0.975),
    }
