"""Feedback over HTTP: it takes the caches' own way in, so these tests commit what they write."""

from collections.abc import Iterator
from typing import Any
from uuid import uuid4

import pytest

from apps.answers.models import Feedback
from tests import factories
from tests.clients import Http, hang_up

pytestmark = pytest.mark.django_db(transaction=True)


@pytest.fixture
def served() -> Iterator[tuple[Http, str]]:
    """A client and the path of feedback on a promotion it was served."""
    caller, _ = factories.key()
    answer = factories.golden(caller, "How do I reset my password?", "Open Settings.")
    entry = factories.promotion(caller, answer, "I lost my password")
    asked = factories.query(
        caller, entry.question, "dynamic_hit", origin="golden", golden_id=answer.pk, golden_version=1, entry_id=entry.pk
    )
    yield Http(factories.key(scopes=("client",))[1]), f"/api/v1/answers/query/{asked.pk}/feedback/"
    hang_up()


def test_a_bad_word_is_kept_and_suspends_the_promotion(served: tuple[Http, str]) -> None:
    client, path = served
    reply = client.post(path, {"verdict": "bad", "note": "wrong product"})
    body = reply.json()
    assert (reply.status_code, body["verdict"], body["note"], body["suspended"]) == (201, "bad", "wrong product", True)
    assert body["verification"] is not None and body["query"] in path
    assert client.post(path, {"verdict": "good"}).json()["suspended"] is False


def test_the_same_idempotency_key_says_it_once(served: tuple[Http, str]) -> None:
    client, path = served
    first, second = (client.post(path, {"verdict": "bad"}, Idempotency_Key="k") for _ in range(2))
    assert first.json() == second.json() and Feedback.objects.count() == 1


@pytest.mark.parametrize("body", [{}, {"verdict": "so-so"}, {"verdict": "bad", "note": "x" * 2001}, [], {"note": "x"}])
def test_what_is_neither_good_nor_bad_is_refused(served: tuple[Http, str], body: Any) -> None:
    client, path = served
    assert client.post(path, body).status_code == 422
    assert not Feedback.objects.exists()


def test_a_query_that_is_not_ours_is_not_found(served: tuple[Http, str]) -> None:
    client, path = served
    assert Http(factories.key("other")[1]).post(path, {"verdict": "bad"}).status_code == 404
    assert client.post(f"/api/v1/answers/query/{uuid4()}/feedback/", {"verdict": "bad"}).status_code == 404
    assert Http().post(path, {"verdict": "bad"}).status_code == 401
