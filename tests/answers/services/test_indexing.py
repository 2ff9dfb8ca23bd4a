"""Large namespaces get partial indexes, small ones lose them, and a filter never costs recall."""

from collections.abc import Iterator

import numpy as np
import pytest
from django.db import connection
from numpy.typing import NDArray
from pgvector import HalfVector

from apps.access.core.callers import Caller
from apps.answers.models import Entry, Namespace, tiers
from apps.answers.services import indexing
from tests import factories

pytestmark = pytest.mark.django_db(transaction=True)

WRITE = """
INSERT INTO answers_entry (namespace_id, question, digest, context, embedder, vector, origin, answer, by, expires_at,
    hits)
SELECT %s, 'q', sha256(v::bytea), ''::bytea, 'test', v::halfvec, 'generated', 'a', '', now() + interval '1 day', 0
FROM unnest(%s::text[]) AS v
"""


@pytest.fixture
def caller() -> Iterator[Caller]:
    yield factories.key()[0]
    with connection.cursor() as cursor:
        cursor.execute("RESET enable_sort")
    Entry.objects.all().delete()
    indexing.tend()


@pytest.fixture
def small(monkeypatch: pytest.MonkeyPatch) -> None:
    """Call fifty rows large and twenty small."""
    monkeypatch.setattr(indexing, "LARGE", 50)
    monkeypatch.setattr(indexing, "SMALL", 20)


def clustered(seed: int, rows: int) -> NDArray[np.float32]:
    """Draw unit vectors around 100 centres, as questions gather around intents."""
    rng = np.random.default_rng(seed)
    centres = np.random.default_rng(7).normal(size=(100, 384))
    vectors = centres[rng.integers(0, 100, rows)] + rng.normal(size=(rows, 384)) * 0.7
    return np.asarray(vectors / np.linalg.norm(vectors, axis=1, keepdims=True), np.float32)


def fill(space: Namespace, vectors: NDArray[np.float32]) -> None:
    with connection.cursor() as cursor:
        cursor.execute(WRITE, [space.pk, [tiers.literal(vector) for vector in vectors]])


def indexes() -> list[str]:
    return sorted(name for name, valid in indexing._existing().items() if valid)


def plan(space: Namespace, vector: NDArray[np.float32]) -> str:
    statement = "EXPLAIN " + tiers.nearest_statement(space.pk, "test", 384, in_context=False)
    return "\n".join(row[0] for row in tiers.prepared(statement, {"vector": HalfVector(vector)}))


@pytest.mark.usefixtures("small")
def test_an_index_comes_with_size_and_goes_with_it(caller: Caller) -> None:
    space, quiet = factories.namespace(caller, "busy"), factories.namespace(caller, "quiet")
    fill(space, clustered(1, 51))
    fill(quiet, clustered(2, 30))
    assert indexing.tend() == 1
    assert [space.pk.hex in name for name in indexes()] == [True]
    assert indexing.tend() == 0
    doomed = Entry.objects.filter(namespace=space).values("pk")[:25]
    Entry.objects.filter(pk__in=doomed).delete()
    assert indexing.tend() == 0, "between small and large nothing changes"
    space.delete()
    assert (indexing.tend(), indexes()) == (1, [])


@pytest.mark.usefixtures("small")
def test_a_new_embedder_gets_the_index_and_the_old_one_loses_it(caller: Caller) -> None:
    space = factories.namespace(caller, "busy")
    fill(space, clustered(1, 60))
    indexing.tend()
    (before,) = indexes()
    Entry.objects.update(embedder="other")
    assert indexing.tend() == 2
    assert len(indexes()) == 1 and indexes() != [before]


@pytest.mark.usefixtures("small")
def test_an_index_that_was_left_unfinished_is_made_again(caller: Caller) -> None:
    space = factories.namespace(caller, "busy")
    fill(space, clustered(1, 60))
    indexing.tend()
    with connection.cursor() as cursor:
        cursor.execute("UPDATE pg_index SET indisvalid = false WHERE indexrelid = %s::regclass", [indexes()[0]])
    assert indexes() == []
    assert indexing.tend() == 2
    assert len(indexes()) == 1


@pytest.mark.usefixtures("small")
def test_only_one_process_tends_at_a_time(caller: Caller) -> None:
    fill(factories.namespace(caller, "busy"), clustered(1, 60))
    other = connection.copy()
    try:
        with other.cursor() as cursor:
            cursor.execute("SELECT pg_advisory_lock(%s)", [indexing.LOCK])
            assert indexing.tend() == 0
            cursor.execute("SELECT pg_advisory_unlock(%s)", [indexing.LOCK])  # the pool keeps sessions
    finally:
        other.close()
    assert indexing.tend() == 1


def test_a_namespace_filter_costs_no_recall(caller: Caller) -> None:
    spaces = [factories.namespace(caller, f"space-{number}") for number in range(2)]
    for number, space in enumerate(spaces):
        fill(space, clustered(number, indexing.LARGE + 1))
    assert indexing.tend() == 2
    with connection.cursor() as cursor:
        cursor.execute("ANALYZE answers_entry")
        cursor.execute("SET enable_sort = off")  # rows of one namespace lie together here, which favours reading all
    found = 0
    for number, space in enumerate(spaces):
        rows = list(Entry.objects.filter(namespace=space).values_list("pk", "vector"))
        known = np.array([vector for _, vector in rows], np.float32)
        asked = clustered(100 + number, 100)
        assert "hnsw_e_" in plan(space, asked[0])
        for vector in asked:
            best = rows[int((known @ vector / np.linalg.norm(known, axis=1)).argmax())][0]
            near = tiers.nearest(space.pk, b"", "test", vector).entry
            found += near is not None and near.id == best
    assert found / 200 >= 0.99


def test_a_small_namespace_is_searched_exactly(caller: Caller) -> None:
    space = factories.namespace(caller, "quiet")
    vectors = clustered(3, 300)
    fill(space, vectors)
    assert (indexing.tend(), indexes()) == (0, [])
    near = tiers.nearest(space.pk, b"", "test", vectors[17]).entry
    assert near is not None and near.similarity == pytest.approx(1, abs=1e-3)
