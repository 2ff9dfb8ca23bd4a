"""Note what was served: the query log, the counts, and a near miss for the judge; nobody waits for any of it."""

from __future__ import annotations

import json
import time
from dataclasses import replace
from datetime import timedelta
from typing import TYPE_CHECKING

import redis
from django.db import transaction

from apps.access import services as access
from apps.access.core.callers import Caller
from apps.answers.models import Verification, notes
from apps.answers.services.policies import Space
from apps.metrics import services as metrics
from apps.work import services as work

if TYPE_CHECKING:
    from apps.answers.services.serving import Served

CACHE = "answers"


def note(caller: Caller, space: Space, served: Served, total_ms: float) -> Served:
    """Write the query log, and with it the verification of a near miss; count both."""
    if not served.grey:
        noted = _log(caller, space, served, total_ms)
    else:
        with transaction.atomic():
            noted = _log(caller, space, _verification(space, served), total_ms)
    _count(space, noted, total_ms)
    return noted


def _log(caller: Caller, space: Space, served: Served, total_ms: float) -> Served:
    query_id = notes.log_query(
        {
            "namespace": space.id,
            "by": caller.name,
            "question": served.key.question,
            "digest": served.key.digest,
            "context": served.key.context,
            "outcome": served.outcome,
            "origin": served.origin or "",
            "reason": served.reason,
            "golden": served.golden_id,
            "golden_version": served.golden_version,
            "entry": served.entry_id,
            "verification": served.verification_id,
            "s_static": served.s_static,
            "s_dynamic": served.s_dynamic,
            "guards": list(served.guards),
            "grey": served.grey,
            "total_ms": total_ms,
        }
    )
    return replace(served, query_id=query_id)


def _verification(space: Space, served: Served) -> Served:
    """Record the near miss once per question, golden version and judge; over budget it is dropped and counted."""
    near, policy = served.near, space.policy
    if near is None or policy.paused:
        return served
    waiting = policy.judge_after > 1
    key, fresh = notes.enqueue_verification(
        {
            "namespace": space.id,
            "question": served.key.question,
            "digest": served.key.digest,
            "golden": near.golden_id,
            "golden_version": near.golden_version,
            "golden_question": near.question,
            "judge": space.judge_version,
            "similarity": near.similarity,
            "margin": near.margin,
            "features": json.dumps(near.features),
            "status": Verification.Status.WAITING if waiting else Verification.Status.QUEUED,
        },
        timedelta(seconds=policy.verdict_ttl_s),
    )
    if not fresh or key is None:
        metrics.count(space.workspace_id, CACHE, space.name, "verification:duplicate")
        return replace(served, verification_id=key)
    if _over_budget(space):
        Verification.objects.filter(pk=key, judged_at=None).delete()
        metrics.count(space.workspace_id, CACHE, space.name, "verification:dropped")
        return served
    metrics.count(space.workspace_id, CACHE, space.name, "verification:new")
    if not waiting:
        transaction.on_commit(lambda: work.send(Verification.task, Verification.queue, str(key)))
    return replace(served, verification_id=key)


def _over_budget(space: Space) -> bool:
    """Spend one verification of this minute's and this day's budget; without Valkey nothing is refused."""
    minute = int(time.time() // 60)
    names = [f"touchstone:judge:{space.id}:{minute}", f"touchstone:judge:{space.id}:day{minute // 1440}"]
    pipe = access.valkey().pipeline(transaction=False)
    for name, keep_s in zip(names, (120, 90_000), strict=True):
        pipe.incr(name)
        pipe.expire(name, keep_s)
    try:
        per_minute, _, per_day, _ = pipe.execute()
    except redis.RedisError:
        return False
    limits = space.policy
    return bool(per_minute > limits.verifications_per_minute or per_day > limits.verifications_per_day)


def _count(space: Space, served: Served, total_ms: float) -> None:
    names = [served.outcome, *(f"guard:{name}" for name in served.guards)]
    if served.origin:
        names.append(f"origin:{served.origin}")
    if served.grey:
        names.append("grey")
    if served.reason == "embedder_failed":
        names.append("fail_open")
    for name in names:
        metrics.count(space.workspace_id, CACHE, space.name, name)
    metrics.observe(space.workspace_id, CACHE, space.name, total_ms)
