"""Retirement and publication against a promotion at the same moment: none of them leaves a promotion behind."""

import threading
from collections.abc import Callable
from typing import Any

import pytest
from django.db import connection

from apps.access.core.callers import Caller
from apps.answers.models import Entry, GoldenAnswer, GoldenQuestion
from apps.answers.services import golden, powers, promoting
from tests import factories

pytestmark = pytest.mark.django_db(transaction=True)


@pytest.fixture
def caller() -> Caller:
    return factories.key()[0]


def together(*verbs: Callable[[], Any]) -> list[Any]:
    """Run verbs at the same moment, each in a thread with a connection of its own."""
    barrier, results = threading.Barrier(len(verbs)), [None] * len(verbs)

    def run(index: int) -> None:
        try:
            barrier.wait()
            results[index] = verbs[index]()
        except Exception as problem:  # what went wrong is looked at by the test
            results[index] = problem  # type: ignore[call-overload]
        finally:
            connection.close()

    threads = [threading.Thread(target=run, args=(index,)) for index in range(len(verbs))]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    return results


def test_a_promotion_beside_a_retirement_is_refused_or_retracted(caller: Caller) -> None:
    powers.embedder().embed(["warm"])
    for number in range(10):
        row = factories.golden(caller, f"How do I reset password {number}?", "Open Settings.")
        judged = [
            factories.verification(row, f"I lost password {number} {word}", verdict="APPROVE")
            for word in ("today", "twice", "again")
        ]
        retired, *promoted = together(
            lambda row=row: golden.retire(caller, row.pk),  # type: ignore[misc]
            *(lambda item=item: promoting.promote(item) for item in judged),
        )
        assert isinstance(retired, GoldenAnswer), retired
        assert {str(result).split(":")[0] for result in promoted} <= {"promoted", "refused"}
        assert not Entry.objects.filter(golden=row).exists()


def test_a_promotion_beside_a_publication_points_at_the_version_in_force_or_not_at_all(caller: Caller) -> None:
    factories.namespace(caller, four_eyes=False)
    for number in range(10):
        row = factories.golden(caller, f"How do I reset password {number}?", "Open Settings.")
        judged = factories.verification(row, f"I lost password {number}", verdict="APPROVE")
        golden.edit(caller, row.pk, {"answer": "Ask your admin."})
        golden.submit(caller, row.pk)
        golden.approve(caller, row.pk)
        published, _ = together(
            lambda row=row: golden.publish(caller, row.pk),  # type: ignore[misc]
            lambda item=judged: promoting.promote(item),  # type: ignore[misc]
        )
        assert isinstance(published, GoldenAnswer), published
        assert set(Entry.objects.filter(golden=row).values_list("golden_version", flat=True)) <= {2}


def test_two_publications_at_once_never_put_one_question_in_force_twice(caller: Caller) -> None:
    factories.namespace(caller, four_eyes=False)
    rows = [
        golden.draft(caller, "default", {"question": "How do I reset my password?", "answer": f"Answer {number}."})
        for number in range(4)
    ]
    for row in rows:
        golden.submit(caller, row.pk)
        golden.approve(caller, row.pk)
    together(*(lambda row=row: golden.publish(caller, row.pk) for row in rows))
    assert GoldenQuestion.objects.count() == 1
