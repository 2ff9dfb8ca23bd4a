"""Fill namespaces with entries in bulk, for measuring only."""

from __future__ import annotations

import io
from collections.abc import Sequence
from typing import Any
from uuid import UUID

import numpy as np
import psycopg
from django.db import connection
from numpy.typing import NDArray

from apps.access import services as access
from apps.access.core.callers import Caller
from apps.access.models import Workspace
from apps.answers.core import text
from apps.answers.models import GoldenAnswer, GoldenQuestion, GoldenVersion, Namespace
from apps.answers.models.tiers import literal
from apps.answers.services import indexing, policies, powers

COLUMNS = "namespace_id, question, digest, context, embedder, vector, origin, answer, by, expires_at, hits"


def bench_caller() -> tuple[Caller, str]:
    """Make the workspace of the benchmark and a key of it."""
    workspace, _ = Workspace.objects.get_or_create(slug="bench", defaults={"name": "Bench"})
    _, secret = access.issue(workspace, "bench", ["client", "curator", "operator"])
    caller = access.recognise(secret)
    assert caller is not None
    return caller, secret


def namespace(caller: Caller, name: str, **policy: Any) -> Namespace:
    """Make a namespace with a policy."""
    return policies.change(caller, name, policy)[0]


def fill(namespace_id: UUID, questions: Sequence[str], vectors: NDArray[np.float32]) -> None:
    """Write entries with COPY."""
    rows = io.StringIO()
    embedder = powers.embedder().name
    for question, vector in zip(questions, vectors, strict=True):
        clean = question.replace("\\", "").replace("\t", " ").replace("\n", " ").replace("\r", " ")
        digest = r"\\x" + text.digest(clean).hex()
        values = (namespace_id, clean, digest, r"\\x", embedder, literal(vector), "client", "An answer.", "bench")
        rows.write("\t".join(str(value) for value in values) + "\tinfinity\t0\n")
    connection.ensure_connection()
    with (
        psycopg.Cursor(connection.connection) as cursor,
        cursor.copy(f"COPY answers_entry ({COLUMNS}) FROM STDIN") as copy,
    ):
        copy.write(rows.getvalue())


def publish(
    namespace: Namespace, questions: Sequence[str], vectors: NDArray[np.float32], classes: Sequence[str]
) -> None:
    """Publish one golden answer a class, with the questions of the class as its wordings."""
    versions: dict[str, GoldenVersion] = {}
    for name in dict.fromkeys(classes):
        values = {"question": name, "answer": f"An answer about {name}."}
        golden = GoldenAnswer.objects.create(namespace=namespace, status=GoldenAnswer.Status.PUBLISHED, **values)
        golden.in_force = versions[name] = GoldenVersion.objects.create(golden=golden, number=1, **values)
        golden.save()
    embedder = powers.embedder().name
    GoldenQuestion.objects.bulk_create(
        GoldenQuestion(
            namespace=namespace,
            golden=versions[name].golden,
            version=versions[name],
            number=1,
            text=question,
            digest=text.digest(question),
            embedder=embedder,
            vector=vector,
        )
        for question, vector, name in zip(questions, vectors, classes, strict=True)
    )


def settle() -> None:
    """Build the indexes that the clock would build, and let the planner know the tables."""
    indexing.tend()
    with connection.cursor() as cursor:
        cursor.execute("VACUUM ANALYZE answers_entry, answers_goldenquestion")


def cloud(count: int, seed: int, dimension: int = 384) -> NDArray[np.float32]:
    """Make unit vectors in clusters, as questions lie: topics, and ways to ask within each."""
    random = np.random.default_rng(seed)
    topics = random.normal(size=(max(count // 25, 1), dimension))
    points = topics[random.integers(len(topics), size=count)] + 0.6 * random.normal(size=(count, dimension))
    return np.asarray(points / np.linalg.norm(points, axis=1, keepdims=True), np.float32)
