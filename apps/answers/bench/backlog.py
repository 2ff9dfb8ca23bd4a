"""Fill and empty the judge's queue, for measuring only."""

from __future__ import annotations

from celery import current_app

from apps.answers.core import text
from apps.answers.models import GoldenAnswer, GoldenVersion, Namespace, Verification
from apps.work import services as work

STATES = ("idle", "full", "dead")
DEPTH = 10_000
QUESTION = "Which golden question is never near?"


def bring_about(state: str) -> None:
    """Bring about `idle` (an empty queue), `full` (10,000 in it) or `dead` (so many, and nobody at the endpoint)."""
    with current_app.connection_for_write() as connection:
        connection.default_channel.queue_purge(Verification.queue)
    Verification.objects.all().delete()
    if state != "idle":
        judge = Namespace.Judge.CHAT if state == "dead" else Namespace.Judge.OFFLINE
        namespace = Namespace.objects.get(name="default")
        Namespace.objects.filter(pk=namespace.pk).update(judge=judge)
        Verification.objects.bulk_create(_rows(namespace), batch_size=2_000)
        for key in Verification.objects.values_list("pk", flat=True):
            work.send(Verification.task, Verification.queue, str(key))
        work.postman.messages.join()


def _rows(namespace: Namespace) -> list[Verification]:
    golden, fresh = GoldenAnswer.objects.get_or_create(namespace=namespace, question=QUESTION, answer="None.")
    if fresh:
        golden.in_force = GoldenVersion.objects.create(golden=golden, number=1, question=QUESTION, answer="None.")
        golden.save()
    return [
        Verification(
            namespace=namespace,
            question=f"near miss {number}",
            digest=text.digest(f"near miss {number}"),
            golden=golden,
            golden_version=1,
            golden_question=QUESTION,
            judge="bench:1",
            similarity=0.7,
            margin=0.2,
        )
        for number in range(DEPTH)
    ]
